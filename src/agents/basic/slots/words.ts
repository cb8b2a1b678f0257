/** English words of questions that are read by their parts: words that add nothing, and words that say which column is meant. */
import { byWord } from "../../../domain/text.ts"

const list = (phrases: string): ReadonlyArray<string> => phrases.split("|").map((phrase) => phrase.trim())

/** Words that neither ask for anything nor narrow what is asked for. */
export const FILLERS = list(
  "do we have|do we have got|have we got|do you have|we have|we have got|did we do|did we have|have we had|are there|is there|were there|was there|there are|can you|could you|would you|please|tell me|show me|give me|get me|find me|bring up|pull up|let me see|i want to see|i want|i need|i would like|i would like to know|i want to know|would like|to know|to see|the|a|an|of|all|any|some|our|us|we|you|currently|right now|at the moment|at present|now|still|already|so far|to date|in total|total|altogether|overall|exactly|actually|really|just|even|ever|roughly|in the pipeline|in our pipeline|in the system|in our system|in the crm|in our crm|on the books|on our books|on file|in our database|in our records|out there|left in the pipeline|sitting|sat|lying around|floating around|hanging around|on the go|on the list|on our list|who|which|what|that|are|is|was|were|be|been|being|do|does|did|have|has|had|got|there|these|those|ones|as|yet|again|names|the names|name them|list|show|give|find|count|how|turned out to be|ended up|end up|ended up as|end up as|ended up being|come out as|came out as|so|and|well|ok|then|hey|hi|hello|quick|overview of|list of|number of|the number of|count of|total number of|marked as|marked|flagged as|flagged|listed as|tagged as|classed as|down as|set to|set as|labelled as|labelled|labeled as|labeled|with status|in status|with the status|status of|in the status|in stage|at the stage|in the stage|stage|at stage|kind of|type of|sort of|folks|gone|go|went|turned|become|became|got to|at all|out of interest|out of curiosity|if any|please list|a ton of|a lot of|lots of|tons of|loads of|plenty of|quite a few|several|many|too many|so many|spent|presently|waiting|segment|category|lasted|lasting|took|taking|long|came|come|comes|left|pipeline|numbers|portfolio|break down|broken down|breakdown|split|grouped|overview|list me|list me please|show me please|count for me|list for me|show for me|find for me|check for me|give us|show us|stand|stands|standing|exist|exists|appear|appears|show up|remain|remaining|among|out of|from among|within|want|wants|that want|who want|interested in|looking for|bought|buys|buy|buying|chose|picked|ordered|opted for|went for|going for|go for|to whom|whom|make|make a|do a|have to|need to|supposed to|meant to|in the calendar|on the calendar|in the diary|actual|current|up to now|until now|by now|personally|myself|under my name|in my name|under our belt|in progress with us|with us|only|but only|but just|only the ones|but only the ones|just the ones|but just the ones|only those|but only those|the ones|tracking|either"
)

/** Of these, the words that add nothing only before what they lead to: "turned out lost", "flagged as won", "bought training". */
export const LEADING: ReadonlySet<string> = new Set(
  list(
    "marked|marked as|flagged|flagged as|listed as|tagged as|classed as|down as|set to|set as|labelled as|labelled|labeled as|labeled|turned out to be|ended up|end up|ended up as|end up as|ended up being|come out as|came out as|split|grouped|tracking|stand|stands|standing|sat|spent|make|make a|do a|go|went|gone|turned|become|became|got to|come|came|comes|waiting|want|wants|that want|who want|interested in|looking for|buy|buys|bought|buying|chose|picked|ordered|opted for|went for|going for|go for|took|taking|lasted|lasting"
  )
)

/** Words before a name that is in charge of rows. */
export const OWNING = list(
  "with|by|for|under|of|from|owned by|managed by|handled by|run by|looked after by|assigned to|belonging to|that belong to|in charge of|on the books of|on the plate of|in the hands of|in the portfolio of|in the book of|on the list of"
)

/** Verbs after or before a name that is in charge of rows. */
export const CHARGE = list(
  "look after|looks after|looking after|manage|manages|managing|handle|handles|handling|own|owns|owning|hold|holds|holding|run|runs|running|carry|carries|carrying|deal with|deals with|dealing with|responsible for|in charge of|take care of|takes care of|sit on|sits on|sitting on|work on|works on|working on|juggle|juggles|juggling|in their book|in his book|in her book|in their portfolio|in his portfolio|in her portfolio|to their name|to his name|to her name|on their plate|on his plate|on her plate|on their books|on his books|on her books|on their list|on his list|on her list|under them|under him|under her|in my calendar|on my calendar|in my diary|in my schedule|on my schedule|on my plate|on my books|in my portfolio|in my book|on my list|to my name|my own|hands|plate|portfolio|care|book"
)

/** A condition on the date of the last contact, or of the next one. */
export const CONTACTED = list(
  "last contacted|contacted|spoken to|spoke to|spoken with|spoke with|talked to|talked with|in touch with|last spoken to|last spoke to|last spoke with|last talked to|reached out to|touched base with|heard from|last heard from|last in touch with|had contact with|had last contact with|last contact|last contact was|last touched|caught up with|contact with|contact"
)
export const FOLLOWED = list(
  "follow up|follow-up|follow ups|follow-ups|followup|followups|followed up|followed up with|follow up with|up for a follow up|due for a follow up|due for a follow-up|due a follow up|due a follow-up|due for a call|due a call|due for a check-in|to be followed up|to be chased|to chase|chased up|next contact|due"
)
/** Words between such a date and its time. */
export const FALLS = list("falls|falling|fall|lands|comes up|coming up|scheduled|planned|set|date|dates|is due|due")

/** What is lacking: "without a phone number". */
export const LACKING = list(
  "without|need a|needs a|still need a|need an|needs an|with no|have no|has no|had no|missing|lacking|lack|lacks|don't have|dont have|do not have|doesn't have|doesnt have|haven't got|havent got|have not got|there is no|have not|haven't|no"
)
export const LACKED = byWord<string>({
  "phone number": "phone",
  phone: "phone",
  "telephone number": "phone",
  telephone: "phone",
  number: "phone",
  "number on file": "phone",
  "phone on file": "phone",
  "phone number on file": "phone",
  email: "email",
  "e-mail": "email",
  "email address": "email",
  "e-mail address": "email",
  owner: "owner",
  "phone numbers": "phone",
  numbers: "phone",
  emails: "email",
  "e-mails": "email"
})
/** What is there: "with a phone number". */
export const HAVING = list(
  "we have a|we have|we have got a|i have a|with|with a|with the|that have a|who have a|having a|has a|have a|that have|who have|having"
)

/** Words for the group with the most, and with the fewest. */
export const MOST = list(
  "most|the most|biggest number of|largest number of|highest number of|greatest number of|biggest book of|largest book of|biggest portfolio of|largest portfolio of|biggest pile of|biggest list of|longest list of|biggest share of|largest share of|biggest load of|lion 's share of|max number of|top for|number one for|ahead on|leading on"
)
export const FEWEST = list(
  "fewest|the fewest|least|smallest number of|lowest number of|smallest book of|smallest portfolio of|shortest list of|smallest share of|least amount of|smallest pile of|lowest count of"
)

/** What rows are grouped by, as people call it. */
export const GROUPED = list(
  "per|by|for each|for every|each|every|across|between|among|according to|split by|broken down by|grouped by|split between|split across|divided by|divided between|spread across|spread over|by each"
)
export const GROUPS = byWord<string>({
  rep: "owner",
  reps: "owner",
  owner: "owner",
  owners: "owner",
  salesperson: "owner",
  salespeople: "owner",
  colleague: "owner",
  colleagues: "owner",
  "sales rep": "owner",
  "sales reps": "owner",
  "account manager": "owner",
  "account managers": "owner",
  "team member": "owner",
  "team members": "owner",
  person: "owner",
  seller: "owner",
  sellers: "owner",
  "of us": "owner",
  "one of us": "owner",
  "on the team": "owner",
  "in the team": "owner",
  status: "status",
  statuses: "status",
  stage: "stage",
  stages: "stage",
  product: "product",
  products: "product",
  company: "company",
  companies: "company",
  month: "month",
  months: "month",
  week: "week",
  weeks: "week",
  day: "day",
  weekday: "weekday",
  quarter: "quarter",
  year: "year",
  country: "country",
  countries: "country",
  city: "city",
  cities: "city",
  town: "city",
  region: "region"
})

/** Words that ask for a detail of one, by the rule's own word for it, with the question words that go with it. */
export const DETAILS: ReadonlyArray<readonly [phrases: ReadonlyArray<string>, what: string, asks: RegExp]> = [
  [
    list(
      "phone|phone number|number|mobile|mobile number|telephone|telephone number|cell|tel|phone no|contact number|number to ring|number to call|number for ringing"
    ),
    "phone",
    /^(what|which|)$/
  ],
  [list("email|e-mail|email address|e-mail address|mail|mail address|address to write to"), "email", /^(what|which|)$/],
  [
    list(
      "owner|account owner|account manager|rep|sales rep|account|looks after|looking after|look after|in charge of|responsible for|responsible|manages|managing|handles|handling|deals with|dealing with|takes care of|taking care of|on the account|has the account|owns|own|belongs to|belong to|assigned to|working with|works with|covering|covers|on the case|runs|running"
    ),
    "owner",
    /^(who|whom|whose|which|what|)$/
  ],
  [
    list("status|stage|state|phase|standing|at what stage|what stage|which stage|how far along|how far"),
    "status",
    /^(what|which|how|where|)$/
  ],
  [
    list(
      "company|employer|firm|works for|works at|works|work for|work at|work|working for|working at|working|employed|employed by|employed at|based|business"
    ),
    "company",
    /^(what|which|where|who|whom|)$/
  ],
  [
    list(
      "product|interest|interested in|looking for|looking at|after|keen on|go for|went for|gone for|signed up for|buy|bought|buying|want|wants|wanted|opted for|chose|picked|considering|like to buy|want to buy|buying from us"
    ),
    "interest",
    /^(what|which|)$/
  ],
  [
    list(
      "follow up|follow-up|followup|follow up with|follow up date|follow-up date|next follow-up|next follow up|next contact|chase|chase up|get back to|next call"
    ),
    "follow up",
    /^(when|what|which|)$/
  ],
  [
    list(
      "last contact|last contacted|last contact date|last spoke to|last spoke with|last spoken to|last talked to|last talked with|last heard from|last in touch with|last speak to|last speak with|last talk to|last talk with|last reach out to|last reached out to|contacted last|last reached|contacted|latest contact|most recent contact|last time|last speak|last spoke|last contact with"
    ),
    "last contact",
    /^(when|what|which|)$/
  ]
]

/** Words of a question about one that say nothing else. */
export const DETAIL_FILLERS = list(
  "what|which|who|whom|whose|when|where|how|is|are|was|were|do|does|did|has|have|had|be|been|the|a|an|of|for|on|at|to|in|with|we|i|you|us|our|my|me|currently|now|again|still|right now|at the moment|today|please|date|day|and|or|also|can|could|should|would|must|supposed|spoke|spoken|talked|speak|talk|called|provide|supply|state|share|presently|happen|agreed|arranged|planned|about|have to|had contact|contact to|contact with|they|them|him|her|his|their|he|she|from|remind me|remind|meant|due|going|need|get|give|show|tell|find|know|check|see|by|it|that|this|there|one|name|details|detail|info|thanks|use|somebody|someone|anybody|anyone|under|down as|listed as|on file|in the system|in the crm|customer|client|contact|person|guy|lady|colleague|of ours|exactly|actually|just|quick|quickly|then|so|hey|hi|hello|ok|well"
)

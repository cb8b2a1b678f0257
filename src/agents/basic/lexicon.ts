/** Every English word with a meaning in basic mode. The organization's own names come with the conversation instead. */
import { byWord } from "../../domain/text.ts"

const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/))
const list = (phrases: string): ReadonlyArray<string> => phrases.split("|").map((phrase) => phrase.trim())

/** Polite phrases before and after a question. */
export const OPENERS = list(
  "please to tell me|please to give me|please to show me|please|talk me through|walk me through|run me through|take me through|pull up|bring up|look me up|provide|provide me with|state|enumerate|specify|indicate|i would like to be informed|please inform me|inform me|pull|pull out|dig out|dig up|grab|fetch|soo|sooo|hm|hmm|umm|ehm|yo|heya|listen|roughly|approximately|would you mind|do you mind|all told|all in all|quick question|quick one|hiya|hola|morning|good morning|good afternoon|good evening|looking for|i am looking for|i am after|need|could i get|can i get|could i have|can i have|may i have|hi there|hello there|hey there|remind me|hey max|hi max|hello max|hey|hi|hello|ok|okay|so|well|max|can you|could you|would you|will you|can i|could i|may i|i want to|i would like to|i need to|i want|i need|i would like|help me|tell me|let me know|just|quickly|kindly|and|also|then|now|what about|how about|same for|the same for|same thing for"
)
/** Words before a question that is asked indirectly: "do you know who the owner is". */
export const INDIRECT = list(
  "got any idea|have you got any idea|do you have any idea|any clue|got a clue|any chance you know|do you remember|can you remember|do you recall|can you recall|does anyone know|any idea|do you happen to know|would you happen to know|do you know|can you tell me|could you tell me|i was wondering|i wonder|just wondering|wondering|curious|out of curiosity|remind me|i forgot|i forget|i have forgotten|i can't remember|i cannot remember|i can not remember|i can't recall|i cannot recall|i don't remember|i do not remember|i don't recall|i don't know|i do not know|i am not sure|not sure|no idea|i have no idea|i would like to know|i want to know|i need to know|can you check|could you check|check"
)
export const CLOSERS = list(
  "and with whom|and with who|and who with|and who was it with|meeting-wise|please|lol|haha|hehe|just curious|just wondering|just asking|tbh|no rush|no hurry|mate|buddy|dude|ty|you know|hmm|really|so far|up to now|until now|thus far|in the end|after all|eventually|pls|plz|ta|thanks a lot|many thanks|thanks in advance|if possible|by any chance|do you know|these days|as of now|as we speak|thx|thanks|thank you|for me|if you can|right now|now|max|cheers|asap|exactly|then|in total|altogether|overall|at the moment|at present|currently|ever|of all time|to date|at all|whatsoever|all in all|all told|in all|names please|the names please|just the names|names only|just names|just the number|just a number|how many of each|just the number for each|the number for each|status only|off the top of your head|again|at our end|on our end|on our side|and count them|with the number of each|and how many of each|when you have a moment|when you get a moment|if you do not mind|if that is ok"
)

export const ORDINALS = byWord<number>({
  first: 1,
  "1st": 1,
  second: 2,
  "2nd": 2,
  third: 3,
  "3rd": 3,
  fourth: 4,
  "4th": 4,
  fifth: 5,
  "5th": 5,
  sixth: 6,
  "6th": 6,
  seventh: 7,
  "7th": 7,
  eighth: 8,
  "8th": 8,
  ninth: 9,
  "9th": 9,
  tenth: 10,
  "10th": 10
})

/** Parts of a day: first minute, and the first minute after it unless the day ends. */
export const DAY_PARTS = byWord<readonly [from: string, to?: string]>({
  morning: ["00:00", "12:00"],
  afternoon: ["12:00", "18:00"],
  evening: ["18:00"],
  night: ["18:00"]
})

/**
 * Words that structure a question. No name and no value of a question contains one, so a question whose structure no rule
 * covers is declined instead of being read as a long name.
 */
export const STRUCTURE = set(`
  who whom whose which that what when where why how if whether because than as not never no none nor neither or without except but only else other others almost both either
  isn't isnt aren't arent wasn't wasnt weren't werent don't dont doesn't doesnt didn't didnt haven't havent hasn't hasnt can't cant won't wont couldn't wouldn't shouldn't cannot nobody nothing nowhere
  is are was were be been being am do does did doing have has had having can could will would shall should must may've might
  i me my mine we us our ours you your yours he him his she her hers they them their theirs it its this these those there
  more most fewer least every each any all since until till before after between during while about over above under below
  whose belong belongs belonged called named owned starting starts beginning begins containing contains
`)
/** Structuring words that are also names, if capitalized. */
export const ALSO_NAMES = set("nobody will may must might can most while it us")
/** Words that begin a question in full. */
export const ASKING_WORDS = set("who whom whose what which when where how is are was were do does did has have")
/** Phrases that mean what rules call otherwise. */
export const SAME_AS = byWord<string>({
  "total number of": "number of",
  "how many percent of": "what percentage of",
  "who just called me from": "who called from",
  "who just called from": "who called from",
  "who called me from": "who called from",
  "with either": "with",
  "of either": "of",
  "for either": "for",
  "by either": "by",
  "sitting in": "in",
  "sits in": "in",
  "sit in": "in",
  "stuck in": "in",
  "stuck at": "in",
  "parked in": "in",
  diary: "calendar",
  calender: "calendar",
  "my own": "my",
  "both the": "the",
  "meeting of the day": "meeting",
  "in there name": "in their name",
  "in there names": "in their names",
  "did our team": "did we",
  "has our team": "have we",
  "the word": "",
  "the words": "",
  "the term": "",
  "contact person": "people",
  "contact persons": "people",
  "do i support": "do i have",
  "do i serve": "do i have",
  planner: "calendar",
  "phone no": "phone number",
  "tel no": "phone number",
  "aside from": "except",
  "apart from": "except",
  besides: "except",
  "other than": "except",
  "not counting": "except",
  "leaving out": "except",
  "with the exception of": "except",
  minus: "except",
  "but without": "without",
  "did i sit in on": "did i have",
  "did i sit in": "did i have",
  "proposals out": "proposals",
  "as well as": "and",
  plus: "and",
  "w/o": "without",
  "who is got": "who has",
  "between me and": "with",
  "between myself and": "with",
  "between us and": "with",
  "on which day": "when",
  "on which date": "when",
  "on what date": "when",
  "did i sit through": "did i have",
  "did i attend": "did i have",
  "did i go to": "did i have",
  "did i take part in": "did i have",
  "did i join": "did i have",
  "did i host": "did i have",
  "did i hold": "did i have",
  "have i attended": "have i had",
  "have i sat through": "have i had",
  "have i been to": "have i had",
  "last have a meeting with": "last meet",
  "last have a call with": "last meet",
  "last had a meeting with": "last met",
  "last had a call with": "last met",
  "who is lost the": "who has lost the",
  "who is won the": "who has won the",
  "what number of": "how many",
  "over the whole of": "in",
  "in the whole of": "in",
  "over the course of": "in",
  "in the course of": "in",
  throughout: "in",
  "which day did": "when did",
  "what day did": "when did",
  "on which day did": "when did",
  "what date did": "when did",
  "which date did": "when did",
  "touch base with": "speak to",
  "touched base with": "spoke to",
  "be in touch with": "speak to",
  "been in touch with": "spoken to",
  "have contact with": "speak to",
  "had contact with": "spoken to",
  "check in with": "speak to",
  "checked in with": "spoken to",
  "get back to": "follow up with",
  "chase up": "follow up with",
  "need to chase": "need to follow up with",
  "have to chase": "have to follow up with",
  "should chase": "should follow up with",
  "meet up with": "meet",
  "met up with": "met",
  "sit down with": "meet",
  "sat down with": "met",
  "sat with": "met",
  "sit with": "meet",
  "spend time with": "meet",
  "run into": "meet",
  "look up": "find",
  "on or before": "until",
  "no later than": "until",
  "not later than": "until",
  "up to and including": "until",
  "on or after": "since",
  "not before": "since",
  "prior to": "before",
  "earlier than": "before",
  "later than": "after",
  "all of": "",
  "nr of": "number of",
  "no of": "number of",
  "all what": "what",
  "who would i meet": "who did i meet",
  "who would i see": "who did i see",
  "everything what": "what",
  "all that i had": "what did i have",
  "everything that i had": "what did i have",
  "everything i had": "what did i have",
  "in either": "either",
  "i ever": "i",
  "on how many occasions": "how many times",
  "in the year": "in",
  "my final": "my last",
  presently: "",
  "ever met": "met",
  "at all": "",
  "was i in a meeting with": "did i meet",
  "was i in meetings with": "did i meet",
  "have i been in a meeting with": "have i met",
  "have i been in meetings with": "have i met",
  "end up winning": "win",
  "end up losing": "lose",
  "manage to win": "win",
  "did we do": "did we have",
  "on the day of": "on",
  // Words of emphasis or doubt.
  actually: "",
  basically: "",
  possibly: "",
  perhaps: "",
  precisely: "",
  kindly: "",
  anyway: "",
  anyhow: "",
  "by any chance": "",
  "by chance": "",
  honestly: "",
  // Said of a number, and no condition.
  "in total": "",
  altogether: "",
  "all in all": "",
  "all told": "",
  "all together": "",
  overall: ""
})
/** Words that begin a question or an order, so that the message is not a story about a person. */
export const QUESTION_STARTS = set(
  "who whom whose whos which what whats when where why how is are was were do does did has have had can could should would list show count give find number if whether everyone everybody anyone anybody all every each compare any people customers clients leads companies meetings"
)
/** Words that may accompany a name and its facts in a question for that person. */
export const INTRODUCING = set(
  "whose is this that it the a an in at from of and or she he they her his their lives living live based near zip zipcode code postcode postal phone number email e-mail mail address name named called customer client user member person who find look up do you have know we there 's my please for with am i are under get pull information details about one someone"
)
/** Words that end a value of a condition and begin the next condition. */
export const NEXT_CONDITION = set("with in at from near by for to and overdue today tomorrow yesterday upcoming on")

/** Kinds of people that organizations name differently: a word finds the status of its family that exists. */
export const NOUN_FAMILIES: ReadonlyArray<ReadonlySet<string>> = [
  set("employee staff colleague coworker rep representative agent clerk salesperson worker personnel teammate"),
  set("customer client buyer shopper"),
  set("lead prospect"),
  set("member subscriber"),
  set("supplier vendor")
]

/** Participles and the date columns that they mean; an empty list means any date column. */
export const DATE_VERBS = byWord<ReadonlyArray<string>>({
  scheduled: [],
  happening: [],
  dated: [],
  created: list("created|created at|created on|added|added on"),
  added: list("added|added on|created|created at|created on"),
  due: list("due|due date|due on|due by|deadline|payment due"),
  closed: list("closed|closed at|closed on|close date"),
  closing: list("close date|closes on|closes"),
  issued: list("issued|issued on|invoice date|invoiced on"),
  invoiced: list("invoice date|invoiced on|issued|issued on"),
  billed: list("invoice date|invoiced on|billed on"),
  ordered: list("order date|ordered|ordered on"),
  placed: list("order date|placed|placed on|ordered on"),
  bought: list("order date|ordered on|purchase date"),
  shipped: list("shipped|shipped date|shipped on|ship date"),
  delivered: list("delivered|delivered on|delivery date"),
  paid: list("paid on|paid at|payment date"),
  signed: list("signed|signed on"),
  hired: list("hired|hire date|hired on"),
  joined: list("joined|joined on|signed up"),
  updated: list("updated|updated at|updated on|modified|modified at"),
  changed: list("updated|updated at|updated on|modified|modified at"),
  expiring: list("expires|expires on|expiry|expiry date"),
  ending: list("end|ends|end date"),
  starting: list("start|starts|start date"),
  starts: list("start|starts|start date"),
  contacted: list("last contact|last contacted|contacted"),
  born: list("birth date|birthday|born|date of birth"),
  seen: list("last seen|last visit"),
  birthday: list("birthday|birth date|date of birth|born|birthdate")
})

/** Words for a column that labels call otherwise. */
export const COLUMN_WORDS = byWord<ReadonlyArray<string>>({
  boss: list("boss|reports to|manager|supervisor"),
  supervisor: list("supervisor|reports to|manager|boss"),
  "line manager": list("line manager|reports to|manager|supervisor"),
  writer: list("writer|composer|author"),
  singer: list("singer|artist"),
  interest: list("interest|interests|interested in|product|products")
})

/** Comparisons: at least this value, more than it, less than it, at most it. */
export const COMPARATORS = byWord<"least" | "more" | "less" | "most">({
  over: "more",
  above: "more",
  "more than": "more",
  "greater than": "more",
  "longer than": "more",
  "larger than": "more",
  "bigger than": "more",
  "higher than": "more",
  "at least": "least",
  ">=": "least",
  "no less than": "least",
  under: "less",
  below: "less",
  "less than": "less",
  "fewer than": "less",
  "shorter than": "less",
  "smaller than": "less",
  "lower than": "less",
  "not longer than": "most",
  "no longer than": "most",
  "not more than": "most",
  "not over": "most",
  "not shorter than": "least",
  "no shorter than": "least",
  "not less than": "least",
  "not under": "least",
  "at most": "most",
  "up to": "most",
  "no more than": "most",
  exceeding: "more"
})

/** Verbs of requests that basic mode does not carry out, by what they ask for. */
export const REQUESTS = {
  send: set(
    "email e-mail mail send write message text sms reply forward notify tell remind invite call phone ring dial contact"
  ),
  change: set(
    "delete remove erase drop cancel change update edit modify set add create make book schedule reschedule move rename assign reassign merge archive close mark put enter record import upload export download print"
  )
} as const

/** Words for aggregates, which Max does not compute. */
export const AGGREGATES = set(
  "sum average avg mean median percentage percent ratio trend trends breakdown chart graph grouped aggregate forecast correlation"
)
/** Phrases for aggregates, matched literally. */
export const AGGREGATE_PHRASES = list(
  "group by|broken down by|break down|add up|adds up|total value|total amount|total hours|total minutes|total time|total number|total revenue|total sales|total of|in total worth|how much money|how much revenue|most meetings|the most|the fewest|the least|biggest|largest|highest|lowest|smallest|top customer|per month|per week|per year|per city|per company|per customer|compare|rank by|ranked by|sort by"
)

/** Words for the person who asks, alone in a message. */
export const ME = /^(me|i|mine)$/
export const PRONOUNS = set("her his their its him them it she he they that this")
/** Nouns for people; many are also a status in the data. */
export const PERSON_NOUNS = set(
  "people person persons contact contacts customer customers client clients user users member members employee employees colleague colleagues staff folks lead leads prospect prospects guest guests patient patients passenger passengers student students shopper shoppers buyer buyers subscriber subscribers everybody everyone anybody anyone somebody someone"
)
/** Nouns for what people are at, which say a status as the nouns for people do. */
export const STAGE_NOUNS = set("proposals")
/** Nouns for what people are where there is no such type: "deals we lost" are the people with that state. */
export const DEAL_NOUNS = set("deal deals opportunity opportunities")
/** What rows are like, rather than called. */
export const VAGUE = set(
  "new old late early long short big small free open good bad busy hard easy real own fun key main"
)
/** Nouns for people that imply no status. */
export const GENERIC_PERSON_NOUNS = set(
  "people person persons contact contacts folks everybody everyone anybody anyone somebody someone"
)
/** Synonyms of the built-in types. */
export const SYNONYMS = byWord<ReadonlySet<string>>({
  companies: set(
    "company companies firm firms business businesses organization organizations organisation organisations account accounts employer employers vendor vendors supplier suppliers"
  ),
  meetings: set(
    "meeting meetings appointment appointments event events session sessions call calls calendar schedule agenda"
  )
})

/** Other words for types that organizations make themselves, by the type's name. */
export const OTHER_NOUNS = byWord<ReadonlySet<string>>({
  track: set("song songs"),
  song: set("track tracks"),
  album: set("record records lp lps"),
  artist: set("band bands musician musicians"),
  invoice: set("bill bills"),
  deal: set("opportunity opportunities"),
  opportunity: set("deal deals"),
  task: set("todo todos to-do to-dos"),
  ticket: set("case cases"),
  case: set("ticket tickets"),
  product: set("article articles")
})

/**
 * The columns that people ask for: concept → phrases that match a column's label as whole words, most likely first.
 */
export const CONCEPTS = {
  phone: list(
    "phone|telephone|phone number|phone no|mobile|cell|tel|mobile phone|cell phone|contact number|number|fax"
  ),
  email: list("email|e mail|email address|mail|e mail address|mail address"),
  zip: list("zip|zip code|zipcode|postal code|postalcode|postcode|post code|postal|plz"),
  city: list("city|town|home town|hometown|municipality|locality|suburb"),
  state: list("state|province|region|county"),
  country: list("country|nation"),
  address: list(
    "address|street|street address|address1|address 1|address line 1|location|home address|mailing address"
  ),
  company: list("company|employer|organization|organisation|account|firm|business|works at|customer"),
  owner: list(
    "owner|account owner|rep|sales rep|account manager|manager|responsible|assigned to|assignee|contact person|agent|employee|salesperson|sales person|support rep|clerk|handled by|sold by|account executive|staff|advisor|adviser|consultant|created by"
  ),
  attendees: list("attendees|participants|with|guests|people|contacts|members|person|contact|customer|client"),
  status: list("status|stage|state|phase"),
  handle: list(
    "user id|userid|username|user name|login|customer id|customer number|account number|member id|member number|loyalty number|customer no"
  ),
  date: list(
    "start|date|starts|starts at|when|day|due|due date|due on|deadline|follow up|invoice date|invoiced on|issued|issued on|order date|ordered on|created|created at|created on|last contact|closed|close date|closes on|hired|hire date|joined|signed up|time|at|updated|updated at|end"
  ),
  due: list(
    "due|due date|due on|due by|deadline|follow up|follow up by|payment due|expires|expires on|renewal|end|close date"
  ),
  amount: list("amount|value|total|price|revenue|worth|budget|cost|sum|size|salary"),
  role: list("title|job title|role|position|job"),
  department: list("department|team|office|division|group|site|branch")
} as const
export type Concept = keyof typeof CONCEPTS

/** Cues directly before the name of the person whom a message is about. */
export const NAME_CUES = list(
  "my name is|name is|name of|names|name|full name|on behalf of|behalf of|regarding|about|customer|client|user|caller|member|guest|passenger|shopper|patient|called|named|i am|this is|it is|account holder|account of|under the name|under|speaking with|chatting with|on the line|signed|sincerely|regards|you are|known as|goes by|re|for customer|we have|here is|contact"
)
/** Cues for the subject of a message that another person writes. */
export const FOREMOST_CUES = list(
  "on behalf of|behalf of|regarding|about|customer|client|user|re|account holder|for customer|caller|passenger|guest|patient|member|shopper"
)
/** Cues before the name of another person. */
export const OTHER_PERSON_CUES = set(
  "friend husband wife son daughter brother sister mother father mom dad colleague coworker agent rep representative boss neighbor neighbour assistant partner cousin aunt uncle with by to fiance fiancee girlfriend boyfriend roommate recipient gift like"
)
/** Words that follow the speaker's name. */
export const NAME_FOLLOWERS = set("here speaking calling writing again")
export const PARTICLES = set(
  "van von der den de del della di da das dos du la le el al bin ibn ben ter ten te y e st mac o zu zum af av"
)
/** Given names and surnames that are also common words. */
export const AMBIGUOUS_GIVEN_NAMES = set(
  "will may hope grace mark bill jack art rich max chase joy faith dawn june april rose ruby ivy summer sky drew frank pat sue ray dean miles"
)
export const AMBIGUOUS_SURNAMES = set(
  "long young black white brown green gray grey small best price day may love power wise bright sharp rush stone little strong good noble early short park parks rose cook baker page read bell wood woods hall field hill lake rivers bush west north east fox wolf hunt king bishop case cash ray"
)
/** Common words that begin a town's name, and towns whose name includes "City". */
export const TOWN_STARTS = set("new north south east west fort port mount lake grand great little big old saint")
export const TOWNS_WITH_CITY = set(
  "kansas oklahoma jersey lake iowa mexico york carson dodge sioux panama quezon redwood daly ocean atlantic traverse rapid"
)
export const TITLES = set("mr mrs ms miss mx dr prof professor sir madam")

/** Cues for a person's own town. */
export const RESIDENCE_CUES = set(
  "live lives living based located reside resides residing resident home hometown city town calling writing address here location"
)
export const PLACE_PREPOSITIONS = set("in from near of at")
/** Cues that a place, an address or a number belongs to a journey, a parcel or a change, not to the person's record. */
export const UNRELATED_CUES = set(
  "fly flying flew flight flights trip travel traveling travelling ship shipped shipping deliver delivered delivery send sent moved moving move new change changing update updated switch heading arrives arriving departing depart departure destination layover visiting visit store warehouse born previously formerly old used former"
)
/** Cues for numbers that are not postcodes. */
export const OTHER_NUMBER_CUES = set(
  "order orders ticket invoice item product reservation booking case reference ref tracking sku model number no nr pin code room flight receipt transaction $ ending last paid cost about amount over"
)
export const STREETS = set(
  "street st avenue ave road rd drive dr lane ln boulevard blvd way court ct highway hwy parkway place square terrace circle trail row crescent close apt apartment suite unit"
)
/** Words that are never part of a name: each ends a run. */
export const COMMON_WORDS = set(`
  a an the and or but nor so yet if then than as at by for from in into of off on onto out over to under up upon via with without within about above after again against along among around
  because before behind below beside between beyond during except inside like near per since through throughout till toward towards until while
  i me my mine myself we us our ours you your yours yourself he him his himself she her hers herself it its itself they them their theirs who whom whose which what when where why how
  this that these those here there am is are was were be been being do does did doing done have has had having can could may might must shall should will would 's s let lets
  cant dont wont didnt isnt wasnt arent havent hasnt couldnt wouldnt doesnt ive ill youre theyre hes shes can't don't won't didn't isn't wasn't aren't haven't hasn't couldn't wouldn't doesn't
  not no yes yeah yep nope ok okay please pls thanks thank thx hi hello hey dear greetings good morning afternoon evening night day sorry also too just only even still already ever never
  very really quite rather pretty much many more most some any all both each every few several other another same such own else instead actually basically kindly maybe perhaps
  one two three four five six seven eight nine ten first second third last next new old latest recent today tomorrow yesterday tonight week weeks month months year years now soon later ago
  name names named called full zip zipcode code postcode postal post email e-mail mail phone number mobile cell telephone tel city town state country county address street area near based located living live lives reside resides
  user users customer customers client clients caller member members guest person people account accounts order orders ordered item items product products id ids reservation booking flight flights ticket tickets
  list count display search lookup
  want wants wanted wanting wanna would like likes need needs needed looking look looks call called calling calls contact contacting reach reaching write writing wrote written speak speaking speaks talk talking
  ask asks asked asking tell tells told say says said know knows knew think thinks believe get gets got getting give gives gave given go goes going gonna went come comes came make makes made take takes took
  help helps helping return returns returned returning exchange exchanges exchanging exchanged cancel cancels cancelled canceled cancelling canceling refund refunds refunded refunding replace replacing replacement
  change changes changed changing update updates updated updating modify modifying check checks checking find finds found see sees seen show shows try tries trying tried use uses using used
  buy buys bought buying purchase purchased purchasing purchases pay pays paid paying payment price cost money receive receives received receiving deliver delivered delivery ship shipped shipping arrive arrived send sent
  book booked track tracking status issue issues problem problems question questions request requests regarding re behalf verify verified verification confirm confirmed identity information info details detail data
  prefer prefers preferred preference polite short long quick quickly fast slow brief direct answers answer replies reply happy glad sad angry upset frustrated annoyed busy curious impatient patient confident shy independent messy organized rigid flexible cautious optimistic pessimistic dependent creative outgoing insecure logical relaxed private detail-oriented
  lamp laptop headphones keyboard mouse chair desk table bottle shoes boots jacket shirt t-shirt backpack camera speaker watch smartwatch tablet phone charger hose helmet skateboard puzzle grill luggage vacuum cleaner kettle espresso machine coffee maker tea camping tent sunglasses bookshelf bicycle bike scooter makeup kit perfume blanket fan purifier humidifier thermostat bulb smart mechanical wireless bluetooth electric portable
  broken damaged defective wrong missing late right left back big small large red blue green black white color colour size sizes different similar available item(s) model brand
  moved move moving born friend husband wife son daughter brother sister mother father mom dad colleague coworker agent rep representative boss neighbor neighbour assistant partner family
  mr mrs ms miss mx dr prof sir madam max since someone somebody anyone anybody everyone everybody nobody thing things something anything everything nothing way time times lot bit total
  hoping hope hopes wondering wonder appreciate reason reasons because store shop company business work works working job online website site app chat support service team
  put puts open opens opened close closed add adds added remove removed set start started stop stopped keep keeps kept leave left run live sure able unable ready trying about due
`)

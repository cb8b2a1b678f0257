/** English names of countries, states and towns. */
import { byWord } from "../../domain/text.ts"

const list = (phrases: string): ReadonlyArray<string> => phrases.split("|").map((phrase) => phrase.trim())

/** Adjectives of countries, with the names that a column may have for each. */
export const NATIONALITIES = byWord<ReadonlyArray<string>>(
  Object.fromEntries(
    "american:usa,united states,us,united states of america,u.s.a.|british:united kingdom,uk,great britain,england|english:united kingdom,uk,england,great britain|scottish:scotland,united kingdom,uk|french:france|german:germany,deutschland|spanish:spain|italian:italy|portuguese:portugal|dutch:netherlands,the netherlands,holland|belgian:belgium|swiss:switzerland|austrian:austria|danish:denmark|swedish:sweden|norwegian:norway|finnish:finland|icelandic:iceland|irish:ireland|polish:poland|czech:czech republic,czechia|slovak:slovakia|hungarian:hungary|romanian:romania|bulgarian:bulgaria|greek:greece|turkish:turkey|russian:russia|ukrainian:ukraine|croatian:croatia|serbian:serbia|slovenian:slovenia|estonian:estonia|latvian:latvia|lithuanian:lithuania|canadian:canada|mexican:mexico|brazilian:brazil|argentine:argentina|argentinian:argentina|chilean:chile|colombian:colombia|peruvian:peru|venezuelan:venezuela|uruguayan:uruguay|cuban:cuba|australian:australia|chinese:china|japanese:japan|korean:south korea,korea|indian:india|pakistani:pakistan|bangladeshi:bangladesh|indonesian:indonesia|malaysian:malaysia|filipino:philippines|thai:thailand|vietnamese:vietnam|singaporean:singapore|taiwanese:taiwan|israeli:israel|saudi:saudi arabia|emirati:united arab emirates,uae|egyptian:egypt|moroccan:morocco|nigerian:nigeria|kenyan:kenya|ghanaian:ghana|ethiopian:ethiopia|algerian:algeria|tunisian:tunisia"
      .split("|")
      .map((pair) => pair.split(":") as [string, string])
      .map(([adjective, names]) => [adjective, names.split(",")])
  )
)
/** Names of one country, of which a column has one. */
export const COUNTRY_NAMES: ReadonlyArray<ReadonlySet<string>> = [
  new Set(list("usa|us|united states|united states of america|america|the states|u.s.|u.s.a.")),
  new Set(list("uk|united kingdom|great britain|britain|england")),
  new Set(list("netherlands|holland")),
  new Set(list("czech republic|czechia")),
  new Set(list("south korea|korea")),
  new Set(list("uae|united arab emirates|emirates"))
]

export const STATES = byWord<string>(
  Object.fromEntries(
    "al:alabama ak:alaska az:arizona ar:arkansas ca:california co:colorado ct:connecticut de:delaware fl:florida ga:georgia hi:hawaii id:idaho il:illinois in:indiana ia:iowa ks:kansas ky:kentucky la:louisiana me:maine md:maryland ma:massachusetts mi:michigan mn:minnesota ms:mississippi mo:missouri mt:montana ne:nebraska nv:nevada nh:new_hampshire nj:new_jersey nm:new_mexico ny:new_york nc:north_carolina nd:north_dakota oh:ohio ok:oklahoma or:oregon pa:pennsylvania ri:rhode_island sc:south_carolina sd:south_dakota tn:tennessee tx:texas ut:utah vt:vermont va:virginia wa:washington wv:west_virginia wi:wisconsin wy:wyoming dc:district_of_columbia on:ontario bc:british_columbia qc:quebec ab:alberta"
      .split(" ")
      .map((pair) => pair.replaceAll("_", " ").split(":") as [string, string])
  )
)
/** Short names of towns. */
export const TOWNS = byWord<string>({
  nyc: "new york",
  la: "los angeles",
  philly: "philadelphia",
  sf: "san francisco",
  dc: "washington",
  vegas: "las vegas",
  "new york city": "new york",
  frisco: "san francisco"
})

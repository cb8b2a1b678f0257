/** Recognizes a message in another of the most spoken languages, and says in that language that only English is understood. */
import { foldText } from "../../domain/keys.ts"
import { COMMON_WORDS, PARTICLES } from "./lexicon.ts"
import type { Token } from "./tokenize.ts"

interface Language {
  /** Letters that only this language, or mostly this language, is written with. */
  readonly script?: RegExp
  /** Words that make a question, without those that are parts of names. */
  readonly words?: string
  readonly reply: (example: string) => string
}

/** Earlier scripts precede later ones: Japanese is also written with Chinese characters. */
const LANGUAGES: ReadonlyArray<Language> = [
  {
    script: /[\u3040-\u30ff]/u,
    reply: (example) => `基本モードでは英語 (English) の質問だけがわかります。例: ${example}`
  },
  { script: /\p{Script=Han}/u, reply: (example) => `在基本模式下，我只懂英语 (English)。例如：${example}` },
  {
    script: /\p{Script=Devanagari}/u,
    reply: (example) => `बेसिक मोड में मैं केवल अंग्रेज़ी (English) समझता हूँ। उदाहरण: ${example}`
  },
  {
    script: /\p{Script=Bengali}/u,
    reply: (example) => `বেসিক মোডে আমি শুধু ইংরেজি (English) বুঝি। উদাহরণ: ${example}`
  },
  {
    script: /[ٹڈڑںےۓہھگچپ]/u,
    reply: (example) => `بنیادی موڈ میں میں صرف انگریزی (English) سمجھتا ہوں۔ مثال: ${example}`
  },
  {
    script: /\p{Script=Arabic}/u,
    reply: (example) => `في الوضع الأساسي أفهم الإنجليزية (English) فقط. مثال: ${example}`
  },
  {
    script: /\p{Script=Cyrillic}/u,
    reply: (example) => `В базовом режиме я понимаю только английский (English). Пример: ${example}`
  },
  {
    words:
      "quién quien quiénes qué cuál cuáles cuánto cuántos cuántas cuantos cuantas dónde donde cuándo cuando cómo como es son está están estan hay tiene tienen tenemos tengo muestra muéstrame dame lista busca los las una unos para con mi mis su sus nuestro nuestros cliente clientes reunión reuniones teléfono telefono correo empresa hoy mañana semana trabaja",
    reply: (example) => `En el modo básico solo entiendo inglés (English). Por ejemplo: ${example}`
  },
  {
    words:
      "quem qual quais quanto quantos quantas onde quando como é são está estão há tem têm temos tenho mostre mostra liste os uma para com meu minha meus minhas nosso nossos cliente clientes reunião reuniões telefone empresa hoje amanhã semana trabalha são o",
    reply: (example) => `No modo básico só entendo inglês (English). Por exemplo: ${example}`
  },
  {
    words:
      "qui quel quelle quels quelles combien où quand comment est sont c'est avons avez ont ai j'ai montre montrez liste trouve les une pour avec mon ma mes notre nos votre vos client réunion réunions téléphone entreprise aujourd'hui demain semaine travaille chez nous vous que quoi qu'est-ce",
    reply: (example) => `En mode de base, je ne comprends que l'anglais (English). Par exemple : ${example}`
  },
  {
    words:
      "wer wem wen was welche welcher welches wann wo wie viele wieviele warum ist sind hat haben habe hast gibt es ich wir mir mein meine meinen unser unsere zeige zeig liste suche das ein eine einen für mit nicht und kunde kunden besprechung besprechungen termin termine telefonnummer telefon firma heute morgen woche arbeitet bei",
    reply: (example) => `Im Basismodus verstehe ich nur Englisch (English). Zum Beispiel: ${example}`
  },
  {
    words:
      "siapa apa mana berapa kapan dimana bagaimana adalah ada punya kami kita saya tampilkan daftar cari yang dengan untuk pelanggan rapat telepon nomor perusahaan hari ini besok minggu bekerja banyak",
    reply: (example) => `Dalam mode dasar saya hanya mengerti bahasa Inggris (English). Contoh: ${example}`
  }
]

const wordSets = LANGUAGES.map(
  ({ words = "" }) =>
    new Set(
      words
        .split(" ")
        .map(foldText)
        .filter((word) => word !== "" && !PARTICLES.has(word))
    )
)
const ENGLISH_TOO = new Set("was as are has die hat man so an in on at me ma no do a i list am when all".split(" "))
const OTHER_SCRIPT =
  /[\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/gu
const MAX_READ = 400

/** The language of a message that is not English; undefined if it is English or can't be told. */
export const languageOf = (message: string, tokens: ReadonlyArray<Token>): Language | undefined => {
  const start = message.slice(0, MAX_READ)
  const others = start.match(OTHER_SCRIPT)?.length ?? 0
  const latin = start.match(/\p{Script=Latin}/gu)?.length ?? 0
  if (others > 0 && others >= latin / 2) return LANGUAGES.find(({ script }) => script?.test(start) === true)
  const said = tokens.slice(0, MAX_READ).flatMap(({ word }) => word.split("-"))
  const english = said.filter((word) => COMMON_WORDS.has(word) && !wordSets.some((words) => words.has(word))).length
  const scores = wordSets.map((words) => new Set(said.filter((word) => words.has(word) && !ENGLISH_TOO.has(word))).size)
  const best = Math.max(...scores)
  return best >= 2 && best > english ? LANGUAGES[scores.indexOf(best)] : undefined
}

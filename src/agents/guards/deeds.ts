/**
 * Claims of deeds: sentences that say a change was made, or that another person agreed to it. Only a receipt shows that, so a reply may
 * contain such a sentence only while a change of its conversation was applied and none was drafted since.
 */
import { wordsOf } from "./normalize.ts"

const listed = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** Participles and past tenses of changes, folded. */
const DONE = listed(
  `updated changed set marked created added deleted removed erased cancelled canceled moved assigned reassigned renamed scheduled
   rescheduled booked saved recorded stored edited modified amended corrected fixed adjusted replaced cleared emptied applied confirmed
   undone reverted restored postponed shifted pushed switched entered logged registered transferred handed swapped flipped finalized
   processed submitted executed implemented adjusted revised overwritten written
   geandert aktualisiert geloscht entfernt erstellt angelegt hinzugefugt gesetzt verschoben zugewiesen umbenannt storniert abgesagt
   gespeichert eingetragen ersetzt korrigiert erledigt
   actualizado actualizada cambiado cambiada eliminado eliminada borrado borrada creado creada anadido anadida modificado modificada
   asignado asignada movido movida cancelado cancelada guardado guardada
   modifie modifiee change changee supprime supprimee cree creee ajoute ajoutee deplace deplacee annule annulee enregistre attribue
   aggiornato aggiornata cambiato modificato eliminato creato aggiunto spostato assegnato annullato
   atualizado atualizada alterado alterada excluido apagado criado adicionado movido
   bijgewerkt gewijzigd verwijderd toegevoegd aangemaakt verplaatst`
)
/** More of them, which often mean something else. */
const DONE_IF_ASKED = listed(
  "put took taken gone sorted handled wrapped made done through successful complete completed finished"
)
/** Participles of consent, folded: only the person decides, so a reply can't know that another one agreed. */
const CONSENTED = listed(
  `approved agreed authorized authorised endorsed okayed okd greenlit sanctioned consented genehmigt zugestimmt freigegeben bewilligt aprobado aprobada autorizado
   autorizada acordado approuve approuvee autorise autorisee approvato approvata autorizzato aprovado aprovada goedgekeurd toegestaan`
)
/** Words before a participle that make it a deed of Max, or of the reply. */
const AGENT = listed("i ive we weve max ich wir hemos jai nous avons ho abbiamo eu ik")
/** Words before a participle that say it is so now. */
const NOW = listed(
  "been now successfully already he wurde wurden worden ist sind jetzt ha sido estan est ete sont foi is are was were has have s its"
)
/** Words between which don't change the meaning. */
const ADVERB = listed(
  "just now already also successfully have has ve then and gone ahead habe haben it them that this the for you ha sido been bereits jetzt"
)
/** Participles that are nouns as well, such as the English "change" and the French "changé", folded. */
const NOUN = listed("change set")
/** Words right before a noun. */
const DETERMINER = listed("the this that these those a an your my our its each every any another one")
/** Words before a participle that deny or postpone it. */
const DENIAL = listed(
  `not nothing never no none neither cannot cant dont doesnt didnt havent hasnt isnt wasnt werent arent wont would will could can may might
   should must to be ll d once if when after until before unless waits waiting draft drafted ready nichts nicht nie noch wird wurde-nicht sin nada
   sera seran sera pas rien jamais`
)
/** Whole beginnings of a sentence that report a deed. */
const REPORTS = [
  "done",
  "all done",
  "its done",
  "it is done",
  "thats done",
  "that is done",
  "all set",
  "youre all set",
  "you are all set",
  "consider it done",
  "taken care of",
  "thats taken care of",
  "change made",
  "changes made",
  "mission accomplished",
  "the change is in effect",
  "the change has gone through",
  "it went through",
  "erledigt",
  "hecho",
  "listo",
  "cest fait",
  "fatto",
  "feito",
  "gedaan",
  "klaar"
]
const MADE =
  /\b(?:i|ive|we|weve)(?: have| just| now| already)* (?:made|carried out|performed|put through) (?:the|that|this|your|those|these|both) (?:\w+ )?(?:change|changes|update|updates|edit|edits|deletion|switch)\b/
const TOOK_EFFECT =
  /\b(?:change|changes|update|updates|edit|deletion)(?: to \w+)? (?:is|are|was|were|has been|have been) (?:\w+ )?(?:complete|completed|made|live|through|in|in effect|successful|done)\b/

/** What makes the change of a sentence depend on the person. */
const CONDITION =
  /\b(?:once|after|when|if|until|unless|as soon as) (?:you|its|it is|this is|that is) (?:\w+ )?(?:confirm|approve|agree|accept|say|press|click|do|reply|answer|confirmed|approved)/
/** Words that state something as a fact of now. */
const STATES = listed("is are was were now has have went became becomes got")

/** Words looked back from a participle. */
const REACH = 5

/** The words of a sentence, without apostrophes. */
const plainWords = (sentence: string): ReadonlyArray<string> => wordsOf(sentence.replace(/['’]/g, ""))

export interface Deeds {
  /** Also without saying that Max did it, which a row's own words may say as well: only where the person asks for a change. */
  readonly wide: boolean
  /** The values that this answer has drafted. */
  readonly drafted?: ReadonlyArray<string>
  /** The names of the actions that are open to the person: quoted, as in “Change the quantity”, they claim nothing. */
  readonly names?: ReadonlyArray<string>
}

/** The sentence without quoted names. Of a reply that grows, the beginning of a name is one as well. */
const withoutNames = (sentence: string, names: ReadonlyArray<string>): string => {
  const [before = "", ...quotes] = sentence.split("“")
  return quotes.reduce((so, quote) => {
    const end = quote.indexOf("”")
    const isName = end < 0 ? names.some((name) => name.startsWith(quote)) : names.includes(quote.slice(0, end))
    return `${so}“${isName ? quote.slice(end < 0 ? quote.length : end) : quote}`
  }, before)
}

/** Whether a sentence says that something was changed. */
export const claimsDeed = (said: string, { drafted = [], names = [], wide }: Deeds): boolean => {
  const sentence = names.length === 0 ? said : withoutNames(said, names)
  if (sentence.trimEnd().endsWith("?")) return false
  if (CONDITION.test(plainWords(sentence).join(" "))) return false
  const values = drafted.map((value) => ` ${wordsOf(value).join(" ")} `).filter((value) => value.trim() !== "")
  return sentence.split(/[,;:()–—]|\s-\s/).some((clause) => claims(plainWords(clause), wide, values))
}

const claims = (words: ReadonlyArray<string>, wide: boolean, drafted: ReadonlyArray<string>): boolean => {
  const text = words.join(" ")
  const isDenied = words.some((word) => DENIAL.has(word))
  if (!isDenied && REPORTS.some((report) => text === report || text.startsWith(`${report} `))) return true
  if (!isDenied && (MADE.test(text) || TOOK_EFFECT.test(text))) return true
  if (!isDenied && words.some((word) => STATES.has(word)) && drafted.some((value) => ` ${text} `.includes(value)))
    return true
  return words.some((word, at) => {
    if (!DONE.has(word) && !(wide && (DONE_IF_ASKED.has(word) || CONSENTED.has(word)))) return false
    const before = words.slice(Math.max(0, at - REACH), at)
    // "Here is the change as I understood it."
    if (NOUN.has(word) && DETERMINER.has(before.at(-1) ?? "")) return false
    if (before.some((one) => DENIAL.has(one))) return false
    // The nearest word that isn't an adverb.
    const nearest = before.findLast((one) => !ADVERB.has(one))
    if (nearest !== undefined && AGENT.has(nearest)) return true
    if (!wide) return false
    // "Your manager approved it.", and not "the approved budget".
    if (CONSENTED.has(word)) return !DETERMINER.has(before.at(-1) ?? "")
    // "Status changed to Won.", "Ich habe den Status geändert."
    const isMainVerb = at === 0 || (at <= REACH && words[at + 1] === "to")
    return isMainVerb || before.slice(-3).some((one) => NOW.has(one)) || before.some((one) => AGENT.has(one))
  })
}

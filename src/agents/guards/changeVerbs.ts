/**
 * Words of a message that ask for a change or a removal, folded, in the languages that people write most. A row's text can't put
 * them into the person's message.
 */
/** English verbs, which are compared with their endings: "address" asks to add nothing. */
const ENGLISH = {
  change: `set reset change update edit amend revise modify alter tweak adjust make turn switch swap convert mark flag tag label relabel
move shift push bring transfer hand pass give assign reassign delegate rename retitle call put place copy use take fill complete correct fix
replace overwrite rewrite substitute add create insert attach open reopen close finish resolve start stop begin end book rebook arrange organize
schedule reschedule plan postpone delay defer advance extend shorten lengthen invite enter record note log register enroll list save store
write type raise lower increase decrease bump reduce promote demote upgrade downgrade link connect merge join let ensure have
clear empty blank unset strip wipe remove delete`,
  removal: `delete remove cancel erase discard drop purge scrap destroy trash bin wipe clear axe ditch kill nix scratch withdraw revoke abolish
eliminate exclude dismiss dispose dump terminate expunge`
}
/** Two words that ask for it together. */
const PHRASES = {
  change: ["sign up", "take over", "taking over", "takes over", "set up", "write down"],
  removal: [
    "get rid",
    "call off",
    "throw away",
    "throw out",
    "strike out",
    "take off",
    "take out",
    "cross out",
    "cross off",
    "do away"
  ]
}
/** In front of a word that is a noun there: "the record", "her notes", "according to the list". */
const BEFORE_NOUNS = new Set(
  "the a an this that these those my your his her its our their of in from per no each every any some s which what last next new old".split(
    " "
  )
)

/** Beginnings of words in other languages. */
const CHANGE = `setz ander aender andr aktualis bearbeit verschieb zuweis umbenenn trag eintrag ersetz korrigier erstell anleg hinzufug ubernimm
cambia actualiz modific edita pon marca mueve asigna corrig reemplaz anad agrega crea usa copia
mets mettre chang modif remplac deplac attribu renomm corrig ajout cree utilis copi
muda altera atualiz defin coloc mov atribu adicion cria
imposta cambi aggiorn modific sposta assegn aggiung crea correggi
wijzig verander zet pas verplaats wijs voeg maak werk zmien ustaw przenies dodaj popraw utworz andra satt flytta lagg
измен смен постав установ обнов перенес назнач исправ добав создай
变更 改 设 更新 添加 移 换 変更 変え 設定 更新 追加 바꾸 변경 수정 설정 추가 غير عدل حدث اضف बदल अपडेट सेट जोड़`
const REMOVAL = `losch entfern stornier absag wegwerf tilg elimin borr quit suprim anul cancela supprim effac annul retir enlev
apag exclu remov cancel elimin annull rimuov togli verwijder annuleer wis usun skasuj anuluj slett slet fjern radera ta-bort poist
удал отмен сотри 删 取消 移除 削除 取り消 消して 삭제 취소 지워 حذف الغ احذف हटा मिटा रद्द`

/** What says how something is, without asking that it becomes so. */
const STATES = new Set(
  `is are was were isn aren wasn has had says said shows states reads according ist sind war hat hatte laut es esta era tiene segun
est sont etait ont selon sao tem segundo sono secondo zijn heeft volgens jest wedlug является это`.split(/\s+/)
)
const STATES_ANYWHERE = /是|です|でした|입니다|है/u
/** What says that something is otherwise from now on, or that the person wants it. */
const WANTS =
  /(?:^| )(?:new|now|from now on|no longer|not any ?more|instead|became|becomes?|should|shall|must|needs?|want|wants|wish|like|please|lets|moved|changed|left|joined|neu|neue[rsn]?|jetzt|soll|bitte|nuev[oa]s?|ahora|debe|nouveau|nouvelle|maintenant|doit|nov[oa]s?|agora|deve|nuov[oaie]|adesso|nieuwe?|nu|nowy|nowa|teraz|nytt?|nya|теперь|новый|новая|новое|должен|должна)(?= |$)/u
const QUESTION_WORDS = new Set(
  `who whom whose what when where which why how is are was were does did wer was wann wo welche welcher welches wie warum
quien que cuando donde cual como qui quoi quand quel quelle comment pourquoi quem quando onde qual chi cosa dove wie wat waar кто что где когда`.split(
    /\s+/
  )
)

/** An English verb with its endings. */
const endings = (verb: string): ReadonlyArray<string> => {
  const stem = verb.replace(/e$/, "")
  const last = verb.at(-1) ?? ""
  return [
    verb,
    `${verb}s`,
    `${verb}es`,
    `${stem}ed`,
    `${stem}ing`,
    `${verb}${last}ed`,
    `${verb}${last}ing`,
    verb.replace(/y$/, "ies"),
    verb.replace(/y$/, "ied")
  ]
}
const partsOf = (text: string) => text.split(/\s+/)
const isSpaced = (stem: string) =>
  /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Devanagari}-]+$/u.test(stem)
const byKind = (english: string, phrases: ReadonlyArray<string>, others: string) => ({
  verbs: new Set(partsOf(english).flatMap(endings)),
  phrases,
  begins: partsOf(others).filter(isSpaced),
  contains: partsOf(others).filter((stem) => !isSpaced(stem))
})
const KINDS = {
  change: byKind(ENGLISH.change, PHRASES.change, CHANGE),
  removal: byKind(ENGLISH.removal, PHRASES.removal, REMOVAL)
}

/** Whether the words of a message ask for a change or a removal. */
export const asksFor = (kind: keyof typeof KINDS, words: ReadonlyArray<string>): boolean => {
  const { begins, contains, phrases, verbs } = KINDS[kind]
  const text = ` ${words.join(" ")} `
  return (
    phrases.some((phrase) => text.includes(` ${phrase} `)) ||
    words.some(
      (word, at) =>
        (verbs.has(word) && !BEFORE_NOUNS.has(words[at - 1] ?? "")) ||
        begins.some((stem) => word.startsWith(stem)) ||
        contains.some((stem) => word.includes(stem))
    )
  )
}

/** Whether a word is a verb of changes. */
export const isVerb = (word: string): boolean => KINDS.change.verbs.has(word) || KINDS.removal.verbs.has(word)

/** Whether a message only asks or tells, so that nothing follows from it: a question, or how something is. */
export const onlyTells = (asked: string, words: ReadonlyArray<string>): boolean => {
  if (asksFor("change", words) || asksFor("removal", words)) return false
  if (/[?？؟]\s*$/.test(asked) || QUESTION_WORDS.has(words[0] ?? "")) return true
  return (words.some((word) => STATES.has(word)) || STATES_ANYWHERE.test(asked)) && !WANTS.test(words.join(" "))
}

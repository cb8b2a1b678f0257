/**
 * Beginnings of words that ask for a change or a removal, folded, in the languages that people write most. A row's text can't
 * put them into the person's message. Scripts without spaces are searched for anywhere.
 */
const CHANGE = `set chang updat edit make mark move assign reassign renam put copy use take fill correct fix replac add creat book
schedul postpon push shift bring give hand adjust enter record note log save store write switch turn raise lower increas decreas
setz ander aender andr aktualis bearbeit verschieb zuweis umbenenn trag eintrag ersetz korrigier erstell anleg hinzufug ubernimm
cambia actualiz modific edita pon marca mueve asigna corrig reemplaz anad agrega crea usa copia
mets mettre chang modif remplac deplac attribu renomm corrig ajout cree utilis copi
muda altera atualiz defin coloc mov atribu adicion cria
imposta cambi aggiorn modific sposta assegn aggiung crea correggi
wijzig verander zet pas verplaats wijs voeg maak werk zmien ustaw przenies dodaj popraw utworz andra satt flytta lagg
измен смен постав установ обнов перенес назнач исправ добав создай
变更 改 设 更新 添加 移 换 変更 変え 設定 更新 追加 바꾸 변경 수정 설정 추가 غير عدل حدث اضف बदल अपडेट सेट जोड़`
const REMOVAL = `delet remov cancel eras discard drop purg scrap destroy trash bin
losch entfern stornier absag wegwerf tilg elimin borr quit suprim anul cancela supprim effac annul retir enlev
apag exclu remov cancel elimin annull rimuov togli verwijder annuleer wis usun skasuj anuluj slett slet fjern radera ta-bort poist
удал отмен сотри 删 取消 移除 削除 取り消 消して 삭제 취소 지워 حذف الغ احذف हटा मिटा रद्द`

const byKind = (stems: string) => {
  const all = stems.split(/\s+/)
  const isSpaced = (stem: string) =>
    /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Devanagari}-]+$/u.test(stem)
  return { begins: all.filter(isSpaced), contains: all.filter((stem) => !isSpaced(stem)) }
}
const KINDS = { change: byKind(CHANGE), removal: byKind(REMOVAL) }

/** Whether the words of a message ask for a change or a removal. */
export const asksFor = (kind: keyof typeof KINDS, words: ReadonlyArray<string>): boolean => {
  const { begins, contains } = KINDS[kind]
  return words.some(
    (word) => begins.some((stem) => word.startsWith(stem)) || contains.some((stem) => word.includes(stem))
  )
}

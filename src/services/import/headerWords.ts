/** Headers that other programs write for the columns of every organization. */
import { DISPLAY_NAME } from "../../domain/EntityType.ts"
import { foldText } from "../../domain/keys.ts"

/** In English, German, French and Spanish, folded. */
const SYNONYMS: ReadonlyArray<readonly [words: RegExp, slug: string]> = [
  [/^(full name|display name|contact name|vollstandiger name|nom complet|nombre completo)$/, DISPLAY_NAME],
  [
    /^(e ?mail( address)?|e mail adresse|emailadresse|adresse (e ?mail|electronique)|courriel|correo( electronico)?|direccion de correo( electronico)?)$/,
    "email"
  ],
  [
    /^(mobile|cell ?phone|(mobile|phone|telephone)( (number|no\.?))?|telefon(nummer)?|handy(nummer)?|mobil(nummer|telefon)?|(numero de )?telephone( portable| mobile)?|portable|(numero de )?telefono( movil)?|movil)$/,
    "phone"
  ],
  [/^(roles?|rollen?|rol)$/, "role"]
]

/** The slug of the column that a header means, by another word. */
export const meaningOf = (header: string): string | undefined => {
  const folded = foldText(header).replace(/[-_\s]+/g, " ")
  return SYNONYMS.find(([words]) => words.test(folded))?.[1]
}

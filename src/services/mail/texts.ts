/** The mails that Max sends. They contain no value of a row but the recipient's own address. */
import type { Organization } from "../../domain/EntityType.ts"
import { emailKey } from "../../domain/keys.ts"
import { printable } from "../../domain/text.ts"
import type { Mail } from "./Mailer.ts"

const linkTo = (publicUrl: string, code: string) => `${publicUrl}/sign-in#${code}`

interface Link {
  readonly to: string
  readonly code: string
  readonly publicUrl: string
  readonly organization: Organization
}

/** The invitation of a person; undefined unless the identifier is an e-mail address. */
export const invitationMail = ({ code, organization, publicUrl, to }: Link): Mail | undefined => {
  const address = emailKey(to)
  if (address === undefined) return undefined
  const name = printable(organization.name)
  return {
    to: address,
    subject: `Your access to Max at ${name}`,
    text: `You can now ask Max about the people, companies and meetings of ${name}.

Open this link to sign in. It works once, within seven days, and only for you:

${linkTo(publicUrl, code)}

If you didn't expect this, ignore it: without the link nothing happens.
`
  }
}

export const signInMail = ({ code, organization, publicUrl, to }: Link): Mail => ({
  to,
  subject: `Sign in to Max at ${printable(organization.name)}`,
  text: `Open this link to sign in. It works once, within 15 minutes:

${linkTo(publicUrl, code)}

If you didn't ask for it, ignore it: without the link nothing happens.
`
})

/** Addresses of links to phone numbers and e-mail addresses that an answer states. */
export const telTo = (phone: string): string => `tel:${phone.replace(/[^\d+]/g, "")}`
export const mailTo = (email: string): string => `mailto:${encodeURIComponent(email).replace("%40", "@")}`

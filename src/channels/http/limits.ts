/** Bytes in a body. */
export const MAX_BODY_BYTES = 64 * 1024
/** Bytes in a body that brings a file. */
export const MAX_UPLOAD_BYTES = 32 * 1024 * 1024
/** Bytes in a JSON body that brings a policy file, whose characters may take several. */
export const MAX_POLICY_BYTES = 4 * 1024 * 1024

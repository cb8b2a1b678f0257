/** Uploads as an attacker writes them: one part of options as JSON and one with the file. */
const BOUNDARY = "----attack"

/** The form of an upload, and its content type. */
export const multipart = ({ file, name, options }) => ({
  type: `multipart/form-data; boundary=${BOUNDARY}`,
  payload: [
    `--${BOUNDARY}`,
    'Content-Disposition: form-data; name="options"',
    "",
    typeof options === "string" ? options : JSON.stringify(options),
    `--${BOUNDARY}`,
    `Content-Disposition: form-data; name="file"; filename="${name}"`,
    "Content-Type: text/csv",
    "",
    file,
    `--${BOUNDARY}--`,
    ""
  ].join("\r\n")
})

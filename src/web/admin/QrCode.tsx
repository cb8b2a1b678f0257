/** A link as a QR code, which the camera of a phone opens. */
import { encodeQR } from "qr"

/** Light modules around the code, as ISO/IEC 18004 requires. */
const QUIET_ZONE = 4

/** Dark on white in every theme: many cameras don't read an inverted code. */
export const QrCode = ({ label, text }: { readonly text: string; readonly label: string }) => {
  const rows = encodeQR(text, "raw", { border: QUIET_ZONE })
  const squares = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  const size = rows.length
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={squares.join("")} fill="#000" />
    </svg>
  )
}

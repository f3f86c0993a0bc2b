/**
 * One line that cannot move the cursor, change colours or turn the direction of the text: what people and models write
 * ends up on somebody's terminal.
 */
export function plainLine(text: string, most = 200): string {
  const line = text.replace(CONTROLS, ' ').replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/**
 * Makes one line that cannot move the cursor, change colours or change the direction of the text. Texts of people and
 * models are printed to terminals.
 */
export function plainLine(text: string, most = 200): string {
  const line = text.replace(CONTROLS, ' ').replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

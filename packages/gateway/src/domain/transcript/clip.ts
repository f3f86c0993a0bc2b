/**
 * Keeps the beginning and the end of a text that is longer than `characters`, and says how much is left out between
 * them.
 */
export function clip(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const mark = characters < ROOM_FOR_WORDS ? ' … ' : ` [… ${text.length - characters} characters left out …] `;
  const room = Math.max(0, characters - mark.length);
  const head = Math.ceil((room * 2) / 3);
  const tail = room - head;
  // Half of a surrogate pair is not valid text.
  const clipped = `${text.slice(0, head)}${mark}${tail === 0 ? '' : text.slice(-tail)}`.toWellFormed();
  return clipped.length < text.length ? clipped : text;
}

/** Below this the mark would be longer than the text around it. */
const ROOM_FOR_WORDS = 300;

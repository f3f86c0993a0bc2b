/** Characters that change the direction of text could make "deny" read as "approve": they are shown as what they are. */
export function withVisibleControls(text: string): string {
  return text.replace(
    HIDDEN,
    (character) => `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}

// Bidirectional controls, invisible characters that hide words from a reader, and control characters except tab and line end.
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\u115f\u1160\u3164\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** How much of a text is shown before somebody asks for all of it. */
export const SHOWN_CHARACTERS = 2_000;

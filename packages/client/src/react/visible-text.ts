/**
 * Text with its hidden characters made visible, e.g. `[U+202E]`. A character that changes the direction of text could make "deny"
 * read as "approve", and an invisible one could hide words from the person who approves them.
 */
export function withVisibleControls(text: string): string {
  return text.replace(
    HIDDEN,
    (character) => `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}

/**
 * Control characters except tab and line ends, everything that Unicode lets a program draw as nothing, line separators, annotations
 * and the blank of Braille. The joiners and the emoji selector are left out, because many languages and emoji are written with
 * them, unless several follow each other, which no text needs.
 */
const HIDDEN =
  /(?<=\u200c|\u200d)(?:\u200c|\u200d|\ufe0f)|(?!\t|\n|\r|\u200c|\u200d|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\u2800]/gu;

import { toJson } from '../../ports/store/schema/json.ts';

/**
 * A value as JSON with invisible characters escaped. A character that changes the direction of text, or one that is not drawn,
 * could show a person something else than what they approve.
 */
export function visibleJson(value: unknown): string {
  return toJson(value).replace(HIDDEN, (character) =>
    [...new Array(character.length).keys()].map((at) => escapeAt(character, at)).join(''),
  );
}

const HIDDEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\u2800]/gu;

/** JSON escapes each half of a surrogate pair separately. */
function escapeAt(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
}

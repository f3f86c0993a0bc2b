import { LRUCache } from 'lru-cache';
import { replaceTexts } from './replace-texts.ts';

/**
 * Replaces an agent's frame tag in everything that is not one of our own frames. It must be valid in a tool's name too.
 */
const HIDDEN = 'hidden';

/** Replaces the frame tag in any spelling, so that a copied or guessed frame is no longer one. */
export function hideTag(text: string, tag: string): string {
  return replaceTag(text, tag, () => HIDDEN);
}

/**
 * True if the text may contain the tag. Nearly no text does, and this check needs no regular expression, of which there would be
 * one per agent.
 */
export function hasTag(text: string, tag: string): boolean {
  return text.length >= tag.length && text.toLowerCase().includes(tag.toLowerCase());
}

/**
 * Replaces the tag in every text of a value, in field names and in errors. Returns the same value if nothing was
 * replaced.
 */
export function hideTagIn<T>(value: T, tag: string): T {
  return replaceTexts(value, (text) => hideTag(text, tag));
}

/**
 * Replaces the tag in JSON text: the same as in every text and field name of the value. JSON writes the tag's letters and digits as
 * they are. Only an escape in front of them may end in the same letters ("\\b" in front of the rest of a tag that starts with "b"), so
 * escapes are skipped as wholes.
 */
export function hideTagInJson(json: string, tag: string): string {
  if (!hasTag(json, tag)) return json;
  return json.replace(new RegExp(`\\\\(?:u[0-9a-f]{4}|.)|${tag}`, 'gi'), (found) =>
    found.startsWith('\\') ? found : HIDDEN,
  );
}

/** Replaces each occurrence of the tag, in any spelling. */
export function replaceTag(text: string, tag: string, replacement: (found: string) => string): string {
  return hasTag(text, tag) ? text.replace(tagPattern(tag), replacement) : text;
}

/** Tags are letters and digits, so they need no escaping. The case is ignored, because some models ignore it. */
function tagPattern(tag: string): RegExp {
  return patterns.memo(tag);
}

const patterns = new LRUCache<string, RegExp>({ max: 1_000, memoMethod: (tag) => new RegExp(tag, 'gi') });

// Matches any agent's tag behind the names of our frames. Used where the agent is not known, such as in a log.
const FRAME_ID = /\b(inbox|situation|summary|transcript|caller)-[0-9a-f]{24}\b/gi;

/** Replaces the tags of all agents' frames. */
export function hideFrameIds(text: string): string {
  return text.replace(FRAME_ID, `$1-${HIDDEN}`);
}

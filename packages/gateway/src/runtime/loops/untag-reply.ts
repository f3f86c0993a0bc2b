import type { LanguageModelV4Content } from '@ai-sdk/provider';
import { hideTagIn, hideTagInJson, hideTagInReasoningOf } from '../../domain/frame-tag.ts';
import { hideInFile } from '../../domain/tag-message.ts';

/** A part of a reply without the tag. In reasoning and its metadata it can be restored: the provider has signed them. */
export function untagContent<P extends LanguageModelV4Content>(part: P, tag: string): P {
  switch (part.type) {
    case 'reasoning':
    case 'reasoning-file':
      return hideTagInReasoningOf(part, tag);
    case 'tool-call': {
      const { input, ...rest } = part;
      // A provider may give the input as a value.
      return {
        ...hideTagIn(rest, tag),
        input: typeof input === 'string' ? hideTagInJson(input, tag) : hideTagIn(input, tag),
      } as P;
    }
    default:
      return hideInFile(hideTagIn(part, tag), tag);
  }
}

/**
 * An error without the tag. It stays an error of its class with all its fields, because core decides by them whether the model is asked
 * again. Returns the same error if it does not contain the tag.
 */
export function untagError(error: unknown, tag: string): unknown {
  if (!(error instanceof Error) || error instanceof DOMException) return hideTagIn(error, tag);
  try {
    return copyWithout(error, tag);
  } catch {
    // It contains itself, or cannot be copied.
    return hideTagIn(error, tag);
  }
}

function copyWithout(error: Error, tag: string): Error {
  let isChanged = false;
  const fields: PropertyDescriptorMap = {};
  for (const key of Reflect.ownKeys(error)) {
    const value: unknown = Reflect.get(error, key);
    const safe = value instanceof Error ? copyWithout(value, tag) : hideTagIn(value, tag);
    isChanged ||= safe !== value;
    const enumerable = Object.prototype.propertyIsEnumerable.call(error, key);
    fields[key as string] = { value: safe, enumerable, writable: true, configurable: true };
  }
  return isChanged ? Object.create(Object.getPrototypeOf(error) as object, fields) : error;
}

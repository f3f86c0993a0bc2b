import { FilesystemError, OptionsError } from '../errors.ts';

/** 10 MiB: a larger file is data, and keeping it twice to undo a call would cost too much memory. */
export const DEFAULT_MAX_FILE_BYTES: number = 10 * 1024 * 1024;

const encoder = new TextEncoder();
// A byte order mark is part of the text: dropping it would change the file when it is written back.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function encodeText(path: string, text: string): Uint8Array {
  if (typeof text !== 'string') {
    throw new FilesystemError('not_text', path, `takes a string, but this is of type ${typeof text}.`);
  }
  if (!text.isWellFormed()) {
    throw new FilesystemError('not_text', path, 'takes text, but this holds half a surrogate pair.');
  }
  return encoder.encode(text);
}

export function decodeText(path: string, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new FilesystemError('not_text', path, 'is not UTF-8 text. Read it with a tool made for its format.', {
      cause,
    });
  }
}

export function assertFileSize(path: string, bytes: number, maxFileBytes: number): void {
  if (bytes <= maxFileBytes) return;
  throw new FilesystemError('too_large', path, `is over the limit of ${maxFileBytes} bytes a file. Use smaller files.`);
}

export function assertMaxFileBytes(maxFileBytes: number): void {
  if (maxFileBytes >= 1) return;
  throw new OptionsError('maxFileBytes', `must be a number of at least 1, not ${maxFileBytes}.`);
}

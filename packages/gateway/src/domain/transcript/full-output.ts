import type { Outcome } from '@lastcall/core';

/** A part of an output that is not text, as a string. */
interface FilePart {
  readonly mediaType: string;
  readonly text: string;
}

/** The complete output as one text: what the model read, then its files, each as base64 or as its URL. */
export function fullText(outcome: Outcome): string {
  const files = fileParts(outcome).map(({ mediaType, text }) => `\n[file: ${mediaType}]\n${text}`);
  return files.length === 0 ? outcome.text : `${outcome.text}${files.join('')}`;
}

export function fileParts(outcome: Outcome): readonly FilePart[] {
  return outcome.status === 'ok' ? (outcome.content ?? []).map(toFilePart) : [];
}

function toFilePart(part: object): FilePart {
  const { mediaType, data } = part as { mediaType?: unknown; data?: unknown };
  return {
    mediaType: typeof mediaType === 'string' ? mediaType : 'unknown',
    text: dataText(data) ?? JSON.stringify(part),
  };
}

/** Data comes plain or tagged with its kind: bytes, base64, a URL or text. */
function dataText(data: unknown): string | undefined {
  if (typeof data === 'string') return data;
  if (data instanceof Uint8Array) return Buffer.from(data).toString('base64');
  if (data instanceof URL) return data.href;
  const { data: inner, url, text } = (data ?? {}) as { data?: unknown; url?: unknown; text?: unknown };
  const found = inner ?? url ?? text;
  return found === undefined || found === data ? undefined : dataText(found);
}

/** Where a command prints: JSON for programs, words for people. */
export interface Output {
  readonly isJson: boolean;
  /** Prints the result of a command: as JSON, or in the words given. */
  result(value: unknown, words: string): void;
}

/** Prints JSON if `json` is set, else words. People also read results that went through a pipe. */
export function createOutput({ json = false }: { json?: boolean | undefined }): Output {
  return {
    isJson: json,
    result(value, words) {
      const text = withVisibleControls(json ? JSON.stringify(value) : words);
      if (text !== '') process.stdout.write(`${text}\n`);
    },
  };
}

/**
 * Writes control characters as JSON does, except line breaks and tabs. In a response of a model they could move the cursor, retitle the
 * window or fill the clipboard. The value of a JSON text stays the same.
 */
export function withVisibleControls(text: string): string {
  return text.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const CONTROLS = /\r(?!\n)|[^\P{Cc}\t\n\r]/gu;

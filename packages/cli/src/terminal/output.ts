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
      const text = json ? JSON.stringify(value) : words;
      if (text !== '') process.stdout.write(`${text}\n`);
    },
  };
}

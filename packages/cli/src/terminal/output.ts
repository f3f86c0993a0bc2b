/** Where a command prints: JSON for programs, words for people. */
export interface Output {
  readonly isJson: boolean;
  /** Prints the result of a command: as JSON, or in the words given. */
  result(value: unknown, words: string): void;
}

/** JSON where it was asked for, else words: results are read by people also in a pipe. */
export function createOutput({ json = false }: { json?: boolean | undefined }): Output {
  return {
    isJson: json,
    result(value, words) {
      const text = json ? JSON.stringify(value) : words;
      if (text !== '') process.stdout.write(`${text}\n`);
    },
  };
}

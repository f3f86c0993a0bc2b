/** The fields of a successful outcome that hold its output. */
export interface Output {
  readonly value?: unknown;
  readonly text: string;
  readonly userText?: string | undefined;
}

/**
 * The output of a tool as people read it: its text for people, or else the text that the model reads. `ok(value, message)` puts a
 * remark for the model before a text, which is left out. A tool that returns nothing, or null, has no text.
 */
export function outputText({ value, text, userText }: Output): string {
  if (userText !== undefined) return userText;
  if (value === null && text === 'null') return '';
  return typeof value === 'string' && text.endsWith(`\n\n${value}`) ? value : text;
}

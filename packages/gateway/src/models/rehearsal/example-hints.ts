/** What arguments are made from, where a schema leaves a choice. */
export interface ExampleHints {
  /** What somebody asked for. */
  readonly text: string;
  /** Milliseconds since the epoch: dates are made of it. */
  readonly now: number;
}

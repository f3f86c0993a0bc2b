/** A run that a limit of the day stopped: what woke it waits. */
export interface HeldRun {
  /** When the next day begins. */
  readonly until: number;
  /** The person whose limit it is. Only what this person wrote waits. Undefined if it is the agent's limit. */
  readonly personId?: string | undefined;
  /** What people in its spaces read. */
  readonly text: string;
}

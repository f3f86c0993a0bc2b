/** A worker continued a run that another one left open. */
export interface Takeover {
  readonly at: number;
  /** The last entry of the transcript that the other one wrote. */
  readonly afterSeq: number;
  /** The worker before, if it is known, and the one after. */
  readonly from?: string;
  readonly to?: string;
  /** How long nothing had been written before the takeover. */
  readonly silentMs: number;
}

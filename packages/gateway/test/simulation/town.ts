import type { SimGateway } from './sim-gateway.ts';
import type { Surroundings } from './surroundings.ts';

export interface WaitingRow {
  readonly id: string;
  readonly runId: string;
  readonly kind: string;
}

/** The world as its people and clients know it. */
export interface Town extends Surroundings {
  readonly agents: Readonly<Record<string, string>>;
  readonly people: { readonly Ada: string; readonly Bob: string };
  readonly spaces: { readonly North: string; readonly South: string };
  pickGateway(place: string): SimGateway | undefined;
  waitingCalls(): readonly WaitingRow[];
  /** Counts clients that still want something. */
  begin(): void;
  end(): void;
  isOver(): boolean;
}

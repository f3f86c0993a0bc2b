import type { Place } from './place.ts';
import type { SimGateway } from './sim-gateway.ts';
import type { Surroundings } from './surroundings.ts';

export interface WaitingRow {
  readonly id: string;
  readonly runId: string;
  readonly kind: string;
  readonly agentId: string;
  /** As JSON. */
  readonly input: string;
}

/** The world as its people and clients know it. */
export interface Town extends Surroundings {
  readonly agents: Readonly<Record<string, string>>;
  readonly people: Readonly<Record<'Ada' | 'Bob' | 'Eve', string>>;
  readonly spaces: Readonly<Record<Place, string>>;
  /** False if requests to the guest may stay without an answer. */
  readonly isGuestAnswered: boolean;
  /** True if approvals of the guest's calls grant later ones too. */
  readonly isGuestGranted: boolean;
  pickGateway(place: string): SimGateway | undefined;
  waitingCalls(): readonly WaitingRow[];
  /** Counts clients that still want something. */
  begin(): void;
  end(): void;
  isOver(): boolean;
}

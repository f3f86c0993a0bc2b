import type { ConnectionState } from './connection-state.ts';

/** What operators see of a server. */
export interface McpStatus {
  readonly status: 'connecting' | 'up' | 'down';
  readonly problem?: string;
  /** The page where a person must authorise the gateway. */
  readonly authorizationUrl?: string;
  readonly tools: readonly string[];
  readonly held: readonly string[];
  readonly unusable: readonly string[];
}

export function statusOf(state: ConnectionState): Pick<McpStatus, 'status' | 'problem' | 'authorizationUrl'> {
  switch (state.kind) {
    case 'connecting':
    case 'up':
      return { status: state.kind };
    case 'lost':
      return { status: 'connecting', problem: state.problem };
    case 'down': {
      const { problem, authorizationUrl } = state;
      return { status: 'down', problem, ...(authorizationUrl === undefined ? {} : { authorizationUrl }) };
    }
    case 'closed':
      return { status: 'down', problem: problemOf(state) };
  }
}

/** Why a call cannot be sent now. */
export function problemOf(state: Exclude<ConnectionState, { kind: 'up' }>): string {
  switch (state.kind) {
    case 'connecting':
      return 'it is not connected';
    case 'closed':
      return 'its connection was closed';
    case 'lost':
    case 'down':
      return state.problem;
  }
}

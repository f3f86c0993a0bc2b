import type { Policy } from '../policies/policy.ts';
import type { Session } from '../session/session.ts';
import type { AnySlice } from '../session/slice.ts';
import type { ToolExample } from './tool-example.ts';
import type { ToolMark } from './tool-mark.ts';

/** A tool whose types do not matter here. */
export interface AnyTool extends ToolMark {
  readonly description: string | ((session: Session) => string);
  readonly id?: string;
  readonly name?: string;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly execute?: (input: never, ctx: never) => unknown;
  readonly terminal?: boolean;
  readonly effects?: 'none' | 'session' | 'external';
  readonly idempotent?: boolean;
  readonly timeoutMs?: number;
  readonly approval?: boolean | ((input: never, ctx: never) => boolean | Promise<boolean>);
  readonly keepLatest?: string;
  readonly examples?: readonly ToolExample<unknown, unknown>[];
  readonly render?: (value: never) => string;
  readonly compensate?: (value: never, input: never, ctx: never) => void | Promise<void>;
  readonly forbidsRewind?: boolean;
  readonly transition?: boolean;
  readonly policies?: readonly Policy[];
  readonly slices?: readonly AnySlice[];
}

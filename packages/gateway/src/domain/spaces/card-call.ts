import type { JsonSchemaObject } from '@lastcall/core';
import type { Answerers } from '../../config/tool-config.ts';
import type { PendingKind } from '../../ports/store/tables.ts';
import type { Display } from '../pending/display.ts';

/** What a card tells of the call behind it, once that waits for somebody. */
export interface CardCall {
  readonly kind: PendingKind;
  readonly display?: Display | undefined;
  /** Of a result; for an approval, of an edited input. */
  readonly resultSchema?: JsonSchemaObject | undefined;
  /** Default: every member of the space. */
  readonly answerers?: Answerers | undefined;
  readonly expiresAt?: number | undefined;
  /** Which question of the call it is, if it waits for input. */
  readonly round?: number | undefined;
  /** Set if the approver changed the input: what the model had asked for. */
  readonly askedInput?: unknown;
  /** The kind of the answer that won. */
  readonly decision?: 'result' | 'error' | 'approve' | 'deny';
  /** Who gave it, and when. */
  readonly by?: { readonly id: string; readonly name: string };
  readonly at?: number;
}

import type { JsonSchemaObject } from '@lastcall/core';
import type { Answerers } from '../../config/tool-config.ts';
import type { WaitKind } from '../../ports/store/schema/tables.ts';
import type { Display } from '../calls/display.ts';

/** What a card shows about its call, once the call waits for an answer. */
export interface CardCall {
  readonly kind: WaitKind;
  readonly display?: Display | undefined;
  /** The schema of a result, or for an approval, of an edited input. */
  readonly resultSchema?: JsonSchemaObject | undefined;
  /** Default: every member of the space. */
  readonly answerers?: Answerers | undefined;
  readonly expiresAt?: number | undefined;
  /** The number of the question, if the call waits for input. */
  readonly round?: number | undefined;
  /** The original input of the model, if the approver changed it. */
  readonly askedInput?: unknown;
  /** The kind of the answer that counted. */
  readonly decision?: 'result' | 'error' | 'approve' | 'deny';
  /** Who gave it, and when. */
  readonly by?: { readonly id: string; readonly name: string };
  readonly at?: number;
  /** The grant that let the call run without waiting. `by` gave it, at `at`. */
  readonly grantId?: string;
  /** The grant that was given with the approval. */
  readonly givenGrantId?: string;
  /** False if its calls cannot be granted in advance. */
  readonly mayGrant?: false;
}

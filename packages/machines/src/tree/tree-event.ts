import type { Answer } from '@lastcall/core';
import type { Plain, PlainObject } from '../charter/plain.ts';
import type { FieldPatch } from '../charter/state-schema.ts';
import type { QueuedMessage, Wait } from './tree.ts';

/** A change of a tree. It is plain data, because the changes of calls go through core's sessions as events. */
export type TreeEvent =
  | ({ readonly kind: 'patched'; readonly target: Target } & FieldPatch)
  | {
      readonly kind: 'moved';
      readonly id: string;
      readonly node: string;
      readonly state: PlainObject;
      /** The change comes from a command, while no call of the instance runs. */
      readonly byCommand?: true;
    }
  | { readonly kind: 'spawned'; readonly id: string; readonly children: readonly Seed[] }
  /** The instance has finished and acts no more. Its parent receives the content when the step ends. */
  | { readonly kind: 'ceded'; readonly id: string; readonly content: Plain }
  | { readonly kind: 'removed'; readonly id: string }
  | { readonly kind: 'phased'; readonly id: string; readonly phase: 'ready' | 'idle' | 'suspended' }
  /** A call waits for an answer; one that waited already waits for another. */
  | { readonly kind: 'waiting'; readonly id: string; readonly wait: Wait }
  | { readonly kind: 'settled'; readonly id: string; readonly callId: string }
  | { readonly kind: 'answered'; readonly id: string; readonly callId: string; readonly answer: Answer }
  | { readonly kind: 'queued'; readonly message: QueuedMessage }
  /** The first messages of the queue were delivered, and others with them; `wakes` if one of those wants an answer. */
  | { readonly kind: 'delivered'; readonly count: number; readonly wakes?: true };

/** Whose state a patch changes. */
export type Target =
  | { readonly kind: 'instance'; readonly id: string }
  | { readonly kind: 'pack'; readonly name: string };

/** A child to be spawned. */
export interface Seed {
  readonly node: string;
  readonly state: PlainObject;
  readonly worker: boolean;
}

/** What the machine must do because of an event; the tree only requests it. */
export type TreeEffect =
  /** Adds a text to the context of the instance. */
  | { readonly kind: 'say'; readonly id: string; readonly text: string }
  /** Cancels calls that can no longer be answered. */
  | {
      readonly kind: 'cancel';
      readonly id: string;
      readonly node: string;
      readonly worker: boolean;
      readonly waits: readonly Wait[];
      readonly reason: string;
    };

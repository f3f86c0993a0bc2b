import type { Answer } from '@lastcall/core';
import type { Plain, PlainObject } from '../charter/plain.ts';
import type { FieldPatch } from '../charter/state-schema.ts';
import type { QueuedMessage, Wait } from './tree.ts';

/** Something that changes a tree. Plain data: what calls change goes through core's sessions as these. */
export type TreeEvent =
  | ({ readonly kind: 'patched'; readonly target: Target } & FieldPatch)
  | {
      readonly kind: 'moved';
      readonly id: string;
      readonly node: string;
      readonly state: PlainObject;
      /** The change comes from outside, while no call of the instance runs. */
      readonly byCommand?: true;
    }
  | { readonly kind: 'spawned'; readonly id: string; readonly children: readonly Seed[] }
  /** It has said its last word, and acts no more. Its parent is told when the step ends. */
  | { readonly kind: 'ceded'; readonly id: string; readonly content: Plain }
  | { readonly kind: 'removed'; readonly id: string }
  | { readonly kind: 'phased'; readonly id: string; readonly phase: 'ready' | 'idle' | 'suspended' }
  /** A call waits for an answer; one that waited already waits for another. */
  | { readonly kind: 'waiting'; readonly id: string; readonly wait: Wait }
  | { readonly kind: 'settled'; readonly id: string; readonly callId: string }
  | { readonly kind: 'answered'; readonly id: string; readonly callId: string; readonly answer: Answer }
  | { readonly kind: 'queued'; readonly message: QueuedMessage }
  | { readonly kind: 'delivered'; readonly count: number };

/** Says whose state a patch changes. */
export type Target =
  | { readonly kind: 'instance'; readonly id: string }
  | { readonly kind: 'pack'; readonly name: string };

/** A child to be. */
export interface Seed {
  readonly node: string;
  readonly state: PlainObject;
  readonly worker: boolean;
}

/** What is to be done because of an event: the tree itself only says so. */
export type TreeEffect =
  /** Tell the instance something: it stands in its context from now on. */
  | { readonly kind: 'say'; readonly id: string; readonly text: string }
  /** Cancel the calls that no answer will come for any more. */
  | {
      readonly kind: 'cancel';
      readonly id: string;
      readonly node: string;
      readonly worker: boolean;
      readonly waits: readonly Wait[];
      readonly reason: string;
    };

import type { Answer } from '@lastcall/client';
import type { Card, CardProps } from '@lastcall/client/react';
import { useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react';
import { forgetKept } from '../form/use-kept.ts';
import { useListedKeys } from '../keyboard/keys.tsx';
import { areSingleKeysOn } from '../keyboard/single-keys.ts';
import { useIsOffline } from '../session/connection.tsx';
import { useAnswerer } from '../session/session.tsx';
import { useCardPlace } from './card-place.tsx';
import { useSteadiness } from './use-steady.ts';
import { type Right, whoMayAnswer } from './who-may-answer.ts';

/** What every card that waits for an answer needs to know. */
export interface UsedCard {
  /** True if it waits, or if the answer did not count and may be given again. */
  readonly isOpen: boolean;
  readonly isSending: boolean;
  /** Whether the signed-in user may answer it. */
  readonly isMine: boolean;
  readonly right: Right;
  readonly isOffline: boolean;
  /**
   * True if the call cannot be answered at this moment: it has just appeared, is being sent, or there is no connection.
   */
  readonly isBlocked: boolean;
  /** True if clicks are ignored: it has just moved, and the click may be meant for something else. */
  readonly isDead: boolean;
  /** The element that holds the buttons. */
  readonly buttons: RefObject<HTMLDivElement | null>;
  send(answer: Answer): void;
}

export function useCard({ call, state, answer }: CardProps): UsedCard {
  const { members } = useCardPlace();
  const answerer = useAnswerer();
  const isOffline = useIsOffline();
  const queries = useQueryClient();
  const right = whoMayAnswer(call.answerers, members, answerer);
  const isSending = state.status === 'sending';
  const isOpen = isSending || state.status === 'waiting' || state.status === 'refused' || state.status === 'unsent';
  useEffect(() => {
    if (!isOpen) forgetKept(call.callId);
  }, [isOpen, call.callId]);
  const buttons = useRef<HTMLDivElement>(null);
  const steadiness = useSteadiness(buttons, isOpen && right.isMine);
  const isBlocked = steadiness === 'new' || isSending || isOffline;
  return {
    isOpen,
    isSending,
    isMine: right.isMine,
    right,
    isOffline,
    isBlocked,
    isDead: isBlocked || steadiness === 'moving',
    buttons,
    send(given) {
      if (isBlocked) return;
      // The result is in the card's state; the lists of waiting calls are loaded again either way.
      answer(given)
        .catch(() => {})
        .finally(() => void queries.invalidateQueries({ queryKey: ['pending'] }));
    },
  };
}

/** The name under which a card keeps what is typed into one of its fields. A call may wait again, with another question. */
export function draftName({ callId, kind, round }: Card, field: 'form' | 'edit' | 'deny' | 'grant'): string {
  return `${callId}.${kind}.${round}.${field}`;
}

interface CardKey {
  /** What it does, in words: "Approve". */
  readonly label: string;
  readonly run: () => void;
}

/** Keys that work if the card itself has the focus, and not in its fields, where letters are text. */
export function useCardKeys(keys: Readonly<Record<string, CardKey>>): (event: KeyboardEvent<HTMLElement>) => void {
  const labels = Object.entries(keys).map(([key, { label }]) => [key, `${label} (in the card that has the focus)`]);
  useListedKeys(Object.fromEntries(labels));
  return (event) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = areSingleKeysOn() && Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (action === undefined) return;
    event.preventDefault();
    action.run();
  };
}

import { createElement, type ReactElement, useCallback, useState } from 'react';
import type { Verdict } from '../verdict.ts';
import type { Answer } from '../wire.generated.ts';
import { type CardProps, type CardState, toCard, toCardState } from './card.ts';
import { useLastcall } from './provider.ts';
import type { CardItem } from './space-view.ts';

/**
 * Shows a call with the component that is registered for it: by `display.customUI`, else by the tool's name, else the
 * fallback, so that every call can be answered. Use the call's id as its key.
 */
export function ToolCard({ item }: { readonly item: CardItem }): ReactElement {
  const { client, components, fallback, sent: known } = useLastcall();
  const [, setChanges] = useState(0);
  const call = toCard(item);
  const { callId, runId = '', kind, round } = call;
  // A call may wait again: for its result once it is approved, or for the answer to its next question.
  const wait = `${callId} ${kind} ${round}`;
  const answer = useCallback<CardProps['answer']>(
    async (given) => {
      const show = (state: CardState): void => {
        known.set(wait, state);
        setChanges((count) => count + 1);
      };
      const at = client.now();
      show({ status: 'sending', given });
      try {
        const verdict = await client.pending.answer({ runId, callId, round }, given);
        show(afterVerdict(verdict, given, at));
        return verdict;
      } catch (error) {
        show({ status: 'unsent', error: error as Error });
        throw error;
      }
    },
    [client, known, wait, runId, callId, round],
  );
  const component = own(components, call.display?.customUI) ?? own(components, call.toolName) ?? fallback;
  // What was typed for one call, or for one of its questions, is never sent as the answer to another.
  return createElement(component, { key: wait, call, state: toCardState(item, known.get(wait)), answer });
}

/** Reads own properties only: a tool may be named like a property of every object, such as `toString`. */
function own<T>(components: Readonly<Record<string, T>>, name: string | undefined): T | undefined {
  return name !== undefined && Object.hasOwn(components, name) ? components[name] : undefined;
}

function afterVerdict(verdict: Verdict, given: Answer, at: number): CardState {
  switch (verdict.status) {
    case 'won':
    case 'same':
      return { status: 'answered', given };
    case 'invalid':
      return { status: 'refused', problems: verdict.problems };
    case 'cancelled':
      return { status: 'cancelled', reason: '', given };
    case 'lost':
      return { ...verdict, given, byMs: Math.max(0, at - verdict.at) };
    case 'expired':
      return { status: 'expired', given };
  }
}

import { createElement, type ReactElement, useCallback, useState } from 'react';
import type { Verdict } from '../verdict.ts';
import { type CardProps, type CardState, toCard, toCardState } from './card.ts';
import { FallbackCard } from './fallback-card.ts';
import { useLastcall } from './provider.ts';
import type { CardItem } from './space-view.ts';

/**
 * Shows a call with the component that the registry has for it: by `display.customUI`, else by the tool's name, else the fallback. No
 * card is a dead end.
 */
export function ToolCard({ item }: { readonly item: CardItem }): ReactElement {
  const { client, components } = useLastcall();
  const [sent, setSent] = useState<CardState>();
  const call = toCard(item);
  const { callId, runId = '' } = call;
  const answer = useCallback<CardProps['answer']>(
    async (given) => {
      setSent({ status: 'sending' });
      try {
        const verdict = await client.pending.answer({ runId, callId }, given);
        setSent(afterVerdict(verdict));
        return verdict;
      } catch (error) {
        setSent({ status: 'unsent', error: error as Error });
        throw error;
      }
    },
    [client, runId, callId],
  );
  const component = own(components, call.display?.customUI) ?? own(components, call.toolName) ?? FallbackCard;
  return createElement(component, { call, state: toCardState(item, sent), answer });
}

/** A tool's name may be that of a field of every object. */
function own<T>(components: Readonly<Record<string, T>>, name: string | undefined): T | undefined {
  return name !== undefined && Object.hasOwn(components, name) ? components[name] : undefined;
}

function afterVerdict(verdict: Verdict): CardState {
  switch (verdict.status) {
    case 'won':
    case 'same':
      return { status: 'answered' };
    case 'invalid':
      return { status: 'refused', problems: verdict.problems };
    case 'cancelled':
      return { status: 'cancelled', reason: '' };
    case 'lost':
      return verdict;
    case 'expired':
      return { status: 'expired' };
  }
}

import type { SpaceItem, UsedSpace } from '@lastcall/client/react';
import { ArrowDown } from 'lucide-react';
import { type ReactElement, type RefObject, useEffect, useMemo, useRef } from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { Button } from '../../parts/ui/button.tsx';
import { OnScreen, Printed } from '../../parts/ui/printed.tsx';
import { MessageRow } from './message-row.tsx';
import { dayOf, heardInWords, newSince, startsGroup } from './rows.ts';
import { useEarlier } from './use-earlier.ts';
import type { UsedHeard } from './use-heard.ts';
import { isWaiting } from './use-news-of-cards.ts';
import { useStickToEnd } from './use-stick-to-end.ts';

interface MessageListProps {
  readonly used: UsedSpace;
  /** The number of the message to show. */
  readonly at: number | undefined;
  readonly heardBy: UsedHeard['heardBy'];
}

/**
 * Renders only the visible messages, however long the space is. Cards that wait stay rendered, with the text typed into
 * them.
 */
export function MessageList({ used, at, heardBy }: MessageListProps): ReactElement {
  const { items, members } = used;
  const list = useRef<VirtualizerHandle>(null);
  const stick = useStickToEnd({ list, items, isElsewhere: at !== undefined });
  const { goToEnd } = stick;
  // Users see their own new message, wherever the list was scrolled.
  useEffect(() => {
    if (heardBy !== undefined) goToEnd();
  }, [heardBy, goToEnd]);
  const earlier = useEarlier(used, list);
  useShowAt({ used, at, list, earlier, stick });
  const kept = useMemo(() => items.flatMap((item, index) => (isWaiting(item) ? [index] : [])), [items]);
  const unseen = newSince(items, stick.lastSeenId);
  const rowOf = (item: SpaceItem, index: number): ReactElement => (
    <MessageRow
      key={item.id}
      item={item}
      members={members}
      isFirst={startsGroup(item, items[index - 1])}
      isLast={index === items.length - 1}
      day={dayOf(item, items[index - 1])}
      isMarked={at !== undefined && item.message?.seq === at}
      heard={heardInWords(item, heardBy, members)}
    />
  );
  return (
    <div className="relative min-h-0 flex-1">
      <div
        role="log"
        // Messages that are scrolled into view are not new: `Announcer` reads out new ones.
        aria-live="off"
        aria-label="Messages"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
        tabIndex={0}
        // Otherwise the list would ignore clicks while it scrolls, which it does all the time while an agent writes.
        className="h-full overflow-y-auto overscroll-contain wide:[scrollbar-gutter:stable] [overflow-anchor:none] *:pointer-events-auto!"
        ref={stick.scroller}
        {...stick.inputs}
      >
        <Beginning used={used} earlier={earlier} />
        <Virtualizer
          ref={list}
          as={OnScreen}
          data={items}
          startMargin={BEGINNING_PX}
          shift={earlier.isShifted}
          keepMounted={kept}
          onScroll={(offset) => {
            stick.onScroll(offset);
            earlier.onScroll(offset);
          }}
        >
          {rowOf}
        </Virtualizer>
        <Printed>{() => items.map(rowOf)}</Printed>
      </div>
      {stick.mode !== 'following' && (
        <Button onClick={goToEnd} className="appear absolute right-4 bottom-3 rounded-full shadow print:hidden">
          <ArrowDown size={16} aria-hidden />
          {unseen > 0 ? `${unseen} new` : 'To the end'}
        </Button>
      )}
    </div>
  );
}

interface ShownAt {
  readonly used: UsedSpace;
  readonly at: number | undefined;
  readonly list: RefObject<VirtualizerHandle | null>;
  readonly earlier: ReturnType<typeof useEarlier>;
  readonly stick: ReturnType<typeof useStickToEnd>;
}

/** Shows the message that the address names, once. It loads earlier messages until it finds it. */
function useShowAt({ used: { items, hasEarlier }, at, list, earlier, stick }: ShownAt): void {
  const shown = useRef<number>(undefined);
  const { isLoading, problem, load } = earlier;
  const { goToEnd, leaveEnd } = stick;
  useEffect(() => {
    // Going back to the address shows the message again.
    if (at === undefined) shown.current = undefined;
    if (at === undefined || shown.current === at) return;
    const first = items.find(({ message }) => message !== undefined)?.message?.seq ?? 0;
    if (hasEarlier && first > at) {
      if (!isLoading && problem === undefined) load();
      return;
    }
    shown.current = at;
    const index = items.findIndex(({ message }) => (message?.seq ?? 0) >= at);
    if (index === -1) return goToEnd();
    leaveEnd();
    requestAnimationFrame(() => list.current?.scrollToIndex(index, { align: 'center' }));
  }, [at, items, hasEarlier, isLoading, problem, load, list, goToEnd, leaveEnd]);
}

const BEGINNING_PX = 48;

/** Above the first message. Its height never changes: the list relies on it. */
function Beginning({ used, earlier }: { used: UsedSpace; earlier: ReturnType<typeof useEarlier> }): ReactElement {
  return (
    <div className="flex h-12 items-center justify-center text-xs text-quiet">
      {used.hasEarlier ? (
        <>
          <Button kind="ghost" className="text-xs print:hidden" onClick={earlier.load}>
            {earlier.problem === undefined
              ? earlier.isLoading
                ? 'Loading …'
                : 'Earlier messages'
              : `Not loaded: ${earlier.problem} Try again`}
          </Button>
          <span className="hidden print:inline">Earlier messages were not loaded, and are not printed.</span>
        </>
      ) : (
        'The start of this space'
      )}
    </div>
  );
}

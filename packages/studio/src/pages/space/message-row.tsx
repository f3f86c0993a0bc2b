import type { Member } from '@lastcall/client';
import { type SpaceItem, type TextItem, ToolCard, withVisibleControls } from '@lastcall/client/react';
import { memo, type ReactElement } from 'react';
import { Attachments } from '../../parts/files/attachments.tsx';
import { Markdown } from '../../parts/text/markdown.tsx';
import { Avatar } from '../../parts/ui/avatar.tsx';
import { Time } from '../../parts/ui/time.tsx';
import { nameOf } from './name-of.ts';
import { nodeOf } from './rows.ts';

interface MessageRowProps {
  readonly item: SpaceItem;
  readonly members: readonly Member[];
  /** The first of several messages by the same sender shows the name. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Set on the first message of a day. */
  readonly day: string | undefined;
  readonly isMarked: boolean;
  /** Which agents received it, in words. */
  readonly heard: string | undefined;
}

/** One message or card. It is not rendered again while others are written. */
export const MessageRow = memo(function MessageRow(props: MessageRowProps): ReactElement {
  const { item, members, isFirst, isLast, day, isMarked, heard } = props;
  const name = withVisibleControls(nameOf(members, item.entityId));
  const kind = members.find(({ entityId }) => entityId === item.entityId)?.kind;
  // Clients choose the metadata of people's messages.
  const node = kind === 'agent' ? nodeOf(item) : undefined;
  return (
    <div className={`px-4 wide:px-6 ${isFirst ? 'pt-4' : 'pt-1'} ${isLast ? 'pb-6' : 'pb-1'}`}>
      {day !== undefined && <Day day={day} />}
      <article
        aria-label={node === undefined ? name : `${name}, ${withVisibleControls(node)}`}
        data-seq={item.message?.seq}
        className={`column-talk grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-3 gap-y-1 rounded wide:grid-cols-[2rem_minmax(0,1fr)] ${isMarked ? 'bg-selected outline-4 outline-selected' : ''}`}
      >
        {isFirst && (
          <>
            <span className="flex wide:row-span-2 wide:self-start">
              <Avatar name={name} kind={kind} />
            </span>
            <div className="flex min-w-0 items-baseline gap-2">
              <p className="truncate font-semibold">
                <bdi>{name}</bdi>
              </p>
              {node !== undefined && <p className="truncate text-xs text-quiet">{withVisibleControls(node)}</p>}
              {item.message !== undefined && <Time at={item.message.createdAt} />}
            </div>
          </>
        )}
        <div className="col-span-2 min-w-0 wide:col-span-1 wide:col-start-2">
          {item.kind === 'text' ? <Text item={item} /> : <ToolCard item={item} />}
          {isResponse(item) && <p className="pt-0.5 text-xs text-quiet">This is the response.</p>}
          {heard !== undefined && <p className="appear pt-0.5 text-xs text-quiet">{heard}</p>}
        </div>
      </article>
    </div>
  );
});

/** True for the card of a call whose output is the response of the run. */
function isResponse({ kind, message }: SpaceItem): boolean {
  return kind === 'card' && message?.metadata.response === true;
}

function Text({ item }: { item: TextItem }): ReactElement {
  const isWriting = item.message === undefined;
  return (
    <div aria-busy={isWriting} className="max-w-prose">
      {item.text === '' && isWriting && <p className="text-quiet">…</p>}
      {item.text !== '' && <Markdown text={item.text} />}
      <Attachments files={item.message?.attachments ?? []} />
    </div>
  );
}

function Day({ day }: { day: string }): ReactElement {
  return (
    <p className="column-talk flex items-center gap-3 pt-2 pb-3 text-xs text-quiet">
      <span aria-hidden className="h-px flex-1 bg-line" />
      {day}
      <span aria-hidden className="h-px flex-1 bg-line" />
    </p>
  );
}

import { ClientError, type Session } from '@lastcall/client';
import { type CardItem, LastcallProvider, ToolCard } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useMemo, useState } from 'react';
import { clientOf, type OpenedCard, openCardLink, openedBefore } from '../../data/card-link.ts';
import { EVERY_MS } from '../../data/every.ts';
import { toCardItem } from '../../parts/cards/card-of-call.ts';
import { CardPlaceProvider } from '../../parts/cards/card-place.tsx';
import { AnyCard, cards } from '../../parts/cards/cards.tsx';
import { PersonSession } from '../../parts/session/session.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { useTitle } from '../../parts/ui/page.tsx';

/** The page of a link in a notification: one card, without the rest of the studio. */
export function CardLinkPage({ onOtherUser }: { onOtherUser: () => void }): ReactElement {
  useTitle('A question for you');
  const [code] = useState(() => location.hash.slice(1));
  const [opened, setOpened] = useState(() => (code === '' ? openedBefore(Date.now()) : undefined));
  return (
    <main className="mx-auto flex min-h-full max-w-xl flex-col gap-4 p-4">
      <h1 className="text-2xl font-semibold">A question for you</h1>
      {opened === undefined ? (
        <Closed code={code} onOpened={setOpened} />
      ) : (
        <Card opened={opened} onOtherUser={onOtherUser} />
      )}
    </main>
  );
}

/** Programs that check mails open every link in them. Only a click uses the link up. */
function Closed({ code, onOpened }: { code: string; onOpened: (opened: OpenedCard) => void }): ReactElement {
  const [error, setError] = useState<unknown>();
  const [isOpening, setOpening] = useState(false);
  if (code === '')
    return (
      <Note>
        This address has no code: the link is incomplete, or this tab has opened it before and its hour is over. Open
        the newest notification, or sign in to <StudioLink />.
      </Note>
    );
  const open = (): void => {
    setOpening(true);
    setError(undefined);
    openCardLink(code)
      .then((opened) => {
        history.replaceState(history.state, '', location.pathname);
        onOpened(opened);
      }, setError)
      .finally(() => setOpening(false));
  };
  return (
    <>
      <Note>An agent waits for your answer. The link works once, on this device, and acts for you.</Note>
      {error !== undefined && (
        <ErrorNote error={error} title={isOver(error) ? 'This link no longer works.' : 'The card was not opened.'}>
          <p className="text-quiet">
            You can also sign in to <StudioLink />: what waits for you is in the inbox.
          </p>
        </ErrorNote>
      )}
      <Button kind="primary" onClick={open} disabled={isOpening} className="min-h-11">
        {isOpening ? 'Opening …' : 'Open the card'}
      </Button>
    </>
  );
}

function Card({ opened, onOtherUser }: { opened: OpenedCard; onOtherUser: () => void }): ReactElement {
  const { callId, runId, entity, expiresAt } = opened;
  const client = useMemo(() => clientOf(opened), [opened]);
  const { data, error, refetch } = useQuery({
    queryKey: ['card', callId],
    queryFn: ({ signal }) => client.runs.call(callId, { signal }),
    refetchInterval: EVERY_MS,
  });
  const session: Session = { id: `${callId}.${entity.id}`, scopes: [], entity, createdAt: 0, expiresAt };
  if (data === undefined)
    return error === null ? (
      <p role="status" className="text-quiet">
        Loading …
      </p>
    ) : (
      <ErrorNote error={error} title="This card cannot be shown." retry={() => void refetch()} />
    );
  const { toolName, card, pending } = data;
  const item: CardItem =
    pending === undefined
      ? {
          ...{ kind: 'card', id: callId, entityId: card?.entityId ?? '', toolName, inputText: '' },
          ...(card === undefined ? {} : { message: card }),
        }
      : toCardItem(pending, card);
  return (
    <PersonSession session={session} onOtherUser={onOtherUser}>
      <LastcallProvider client={client} components={cards} fallback={AnyCard}>
        <Note>
          You answer as <bdi>{entity.displayName}</bdi>.
        </Note>
        <CardPlaceProvider value={{ isOneCall: true }}>
          <ToolCard key={`${runId}/${callId}`} item={item} />
        </CardPlaceProvider>
        {error !== null && <ErrorNote error={error} retry={() => void refetch()} />}
      </LastcallProvider>
    </PersonSession>
  );
}

function isOver(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'link_not_valid';
}

function Note({ children }: { children: ReactNode }): ReactElement {
  return <p className="text-quiet">{children}</p>;
}

function StudioLink(): ReactElement {
  return (
    <a href="/inbox" className="link">
      the studio
    </a>
  );
}

import type { Notification, NotificationTarget } from '@lastcall/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { client } from '../../data/client.ts';
import { notificationList, notificationTargets } from '../../data/settings.ts';
import { Requires } from '../../parts/session/requires.tsx';
import { Button } from '../../parts/ui/button.tsx';
import { EmptyState } from '../../parts/ui/empty-state.tsx';
import { ErrorNote } from '../../parts/ui/error-note.tsx';
import { Section } from '../../parts/ui/page.tsx';
import { Time } from '../../parts/ui/time.tsx';

/** Where people are notified, and what was sent. */
export function NotificationsTab(): ReactElement {
  return (
    <Requires scope="admin" to="see notifications">
      <Targets />
      <Sent />
    </Requires>
  );
}

function Targets(): ReactElement {
  const { data: targets, error, refetch } = useQuery(notificationTargets);
  const { data: sent = [] } = useQuery(notificationList);
  return (
    <Section title="Targets">
      {error !== null && <ErrorNote error={error} retry={() => void refetch()} />}
      {targets?.length === 0 && (
        <EmptyState title="There are no targets.">
          <p>
            Add <code>notify</code> to the configuration file: a webhook, an e-mail address or a Slack channel hears of
            calls that wait, of failures and of spend limits.
          </p>
        </EmptyState>
      )}
      <ul aria-label="Targets" className="flex flex-col">
        {targets?.map((target) => (
          <TargetRow
            key={target.name}
            target={target}
            newest={sent.find((one) => one.target === target.name && one.status !== 'obsolete')}
          />
        ))}
      </ul>
    </Section>
  );
}

function TargetRow({ target, newest }: { target: NotificationTarget; newest: Notification | undefined }): ReactElement {
  const { name, channel, events, project } = target;
  const test = useChange(() => client.notifications.test(name));
  return (
    <li className="flex flex-col gap-1 border-t border-line py-2 first:border-t-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">
          <bdi>{name}</bdi>
        </span>
        <span className="text-sm text-quiet">
          {channel}, {events.join(', ')}
          {project === 'default' ? '' : `, project ${project}`}
        </span>
        <Button className="ml-auto" disabled={test.isPending} onClick={() => test.mutate()}>
          Send a test<span className="sr-only"> to {name}</span>
        </Button>
      </div>
      {newest?.error !== undefined && (
        <p role="alert" className="text-sm text-bad">
          The newest notification did not arrive: {newest.error}
        </p>
      )}
      {test.error !== null && <ErrorNote error={test.error} title="The test was not sent." />}
    </li>
  );
}

function Sent(): ReactElement {
  const { data: sent, error, refetch } = useQuery(notificationList);
  return (
    <Section title="Newest notifications">
      {error !== null && <ErrorNote error={error} retry={() => void refetch()} />}
      {sent?.length === 0 && <p className="text-quiet">None has been sent yet.</p>}
      <ul aria-label="Notifications" className="flex flex-col">
        {sent?.map((one) => (
          <NotificationRow key={one.id} notification={one} />
        ))}
      </ul>
    </Section>
  );
}

function NotificationRow({ notification }: { notification: Notification }): ReactElement {
  const { id, event, target, status, attempts, error, createdAt, sentAt, linkUsedAt } = notification;
  const retry = useChange(() => client.notifications.retry(id));
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line py-2 text-sm first:border-t-0">
      <Time at={sentAt ?? createdAt} />
      <span>
        {event} to <bdi>{target}</bdi>
      </span>
      <span className={status === 'failed' ? 'text-bad' : 'text-quiet'}>
        {status}
        {status === 'pending' && attempts > 0 ? `, attempt ${attempts}` : ''}
        {linkUsedAt === undefined ? '' : ', link used'}
      </span>
      {error !== undefined && <span className="min-w-0 text-bad">{error}</span>}
      {status === 'failed' && (
        <Button className="ml-auto" disabled={retry.isPending} onClick={() => retry.mutate()}>
          Send again
        </Button>
      )}
      {retry.error !== null && <ErrorNote error={retry.error} title="It was not sent again." />}
    </li>
  );
}

function useChange(change: () => Promise<Notification>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => queries.invalidateQueries({ queryKey: notificationList.queryKey }),
  });
}

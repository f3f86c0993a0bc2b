import { withVisibleControls } from '@lastcall/client/react';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useParams } from '@tanstack/react-router';
import {
  Bot,
  ChartColumn,
  Command,
  FlaskConical,
  House,
  Inbox,
  ListTree,
  type LucideIcon,
  MessagesSquare,
  Settings,
  Wrench,
} from 'lucide-react';
import { lazy, type ReactElement, Suspense, useState } from 'react';
import { flushSync } from 'react-dom';
import { pendingCalls } from '../data/pending.ts';
import { spaceList } from '../data/spaces.ts';
import { gatewayStatus } from '../data/status.ts';
import { ShortcutHelp, useKeys } from '../parts/keyboard/keys.tsx';
import { ConnectionBadge } from '../parts/session/connection.tsx';
import { useAnswerer, useMay, useSession } from '../parts/session/session.tsx';
import { Avatar } from '../parts/ui/avatar.tsx';
import { Mark } from '../parts/ui/mark.tsx';
import { ModelBadge } from './model-badge.tsx';
import { PaletteDialog } from './palette-dialog.tsx';
import { ProjectPicker } from './project-picker.tsx';
import { useWaitingNotifications } from './use-waiting-notifications.ts';

/** Without it the page lacks nothing, so it is left out if it cannot be loaded. */
const DemoTour = lazy(() =>
  import('./demo-tour.tsx').then(
    ({ DemoTour: Loaded }) => ({ default: Loaded }),
    () => ({ default: () => null }),
  ),
);

/** Rail and header around every page. On a narrow screen the rail is a bar at the bottom. */
export function AppFrame(): ReactElement {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  // It opens synchronously: the letters typed after the key are already meant for its field.
  const openPalette = (): void => flushSync(() => setPaletteOpen(true));
  useGoKeys();
  useWaitingNotifications();
  useKeys({ 'mod+k': { label: 'Search pages, agents, runs and tools', run: openPalette, evenInFields: true } });
  return (
    <div className="flex h-full flex-col-reverse wide:flex-row print:block">
      <a href="#page" className="sr-only focus:not-sr-only focus:absolute focus:z-10 focus:bg-surface focus:p-2">
        Skip to the page
      </a>
      <Rail />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <TopBar onSearch={openPalette} />
        <main id="page" tabIndex={-1} className="min-h-0 flex-1 outline-none">
          <Outlet />
        </main>
      </div>
      {isPaletteOpen && <PaletteDialog onClose={() => setPaletteOpen(false)} />}
      <ShortcutHelp />
    </div>
  );
}

function Tour(): ReactElement | null {
  const { data } = useQuery(gatewayStatus);
  const mayCrash = useMay('admin');
  if (data?.canCrash !== true || !mayCrash) return null;
  return (
    <Suspense>
      <DemoTour />
    </Suspense>
  );
}

/** Keyboard shortcuts: `g`, then the first letter of a page. */
function useGoKeys(): void {
  const navigate = useNavigate();
  useKeys({
    'g h': { label: 'Go home', run: () => void navigate({ to: '/' }) },
    'g i': { label: 'Go to the inbox', run: () => void navigate({ to: '/inbox' }) },
    'g s': { label: 'Go to the spaces', run: () => void navigate({ to: '/spaces' }) },
    'g r': { label: 'Go to the runs', run: () => void navigate({ to: '/runs' }) },
    'g a': { label: 'Go to the agents', run: () => void navigate({ to: '/agents' }) },
    'g t': { label: 'Go to the tools', run: () => void navigate({ to: '/tools' }) },
    'g e': { label: 'Go to the evaluations', run: () => void navigate({ to: '/evaluations' }) },
    '/': { label: 'Search all texts', run: () => void navigate({ to: '/search' }) },
    'g u': { label: 'Go to the usage', run: () => void navigate({ to: '/usage' }) },
  });
}

function TopBar({ onSearch }: { onSearch: () => void }): ReactElement {
  const { session } = useSession();
  const name = session.entity?.displayName ?? 'operator';
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-x-4 border-b border-line bg-surface px-4 text-sm text-quiet wide:px-6 print:hidden">
      <ModelBadge />
      <ConnectionBadge />
      <ProjectPicker />
      <Tour />
      <span className="ml-auto inline-flex min-w-0 items-center gap-1.5">
        <Avatar size="small" name={name} kind="human" />
        <bdi className="truncate">{withVisibleControls(name)}</bdi>
      </span>
      <button type="button" onClick={onSearch} className="inline-flex min-h-6 items-center gap-1 hover:text-text">
        <Command size={16} aria-hidden /> Search{' '}
        <kbd className="hidden rounded border border-line px-1 font-sans text-2xs wide:inline">Ctrl K</kbd>
      </button>
    </div>
  );
}

interface RailPlace {
  readonly to: '/' | '/inbox' | '/spaces' | '/runs' | '/agents' | '/tools' | '/evaluations' | '/usage' | '/settings';
  readonly word: string;
  readonly icon: LucideIcon;
  /** The bar of a phone has no room for it. Search leads there. */
  readonly isWideOnly?: true;
}

const PLACES: readonly RailPlace[] = [
  { to: '/', word: 'Home', icon: House },
  { to: '/inbox', word: 'Inbox', icon: Inbox },
  { to: '/spaces', word: 'Spaces', icon: MessagesSquare },
  { to: '/runs', word: 'Runs', icon: ListTree },
  { to: '/agents', word: 'Agents', icon: Bot },
  { to: '/tools', word: 'Tools', icon: Wrench },
  { to: '/evaluations', word: 'Evaluations', icon: FlaskConical, isWideOnly: true },
  { to: '/usage', word: 'Usage', icon: ChartColumn, isWideOnly: true },
  { to: '/settings', word: 'Settings', icon: Settings },
];

function Rail(): ReactElement {
  const { data: waiting = [] } = useQuery(pendingCalls('waiting', useAnswerer()));
  const { data: spaces = [] } = useQuery(spaceList);
  // Messages that are on the screen do not count as new.
  const { id: openId } = useParams({ strict: false });
  const unread = spaces.reduce((sum, { id, unread = 0 }) => sum + (id === openId ? 0 : unread), 0);
  const news: Partial<Record<string, News>> = {
    Inbox: { count: waiting.length, word: 'waiting', look: 'bg-wait-soft text-wait' },
    Spaces: { count: unread, word: 'new', look: 'bg-selected text-text' },
  };
  return (
    <nav
      aria-label="Pages"
      className="flex shrink-0 justify-around border-t print:hidden border-line bg-surface wide:w-48 wide:flex-col wide:justify-start wide:gap-1 wide:border-t-0 wide:border-r wide:p-2"
    >
      <p className="hidden items-center gap-2 px-2 py-3 text-lg font-semibold tracking-tight wide:flex">
        <Mark /> Lastcall
      </p>
      {PLACES.map(({ to, word, icon, isWideOnly }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === '/' }}
          className={`${isWideOnly === true ? 'max-[40rem]:hidden' : ''} relative flex min-h-11 flex-1 flex-col items-center justify-center gap-0.5 rounded px-1 text-2xs whitespace-nowrap text-quiet hover:bg-raised hover:text-text aria-[current=page]:bg-selected aria-[current=page]:font-medium aria-[current=page]:text-text wide:min-h-9 wide:flex-none wide:flex-row wide:justify-start wide:gap-2 wide:px-2 wide:text-base`}
        >
          <Place icon={icon} word={word} news={news[word]} />
        </Link>
      ))}
    </nav>
  );
}

interface News {
  readonly count: number;
  readonly word: string;
  readonly look: string;
}

function Place({ icon: Icon, word, news }: { icon: LucideIcon; word: string; news: News | undefined }): ReactElement {
  return (
    <>
      <Icon size={16} aria-hidden className="shrink-0" />
      <span>{word}</span>
      {news !== undefined && news.count > 0 && (
        <span
          className={`absolute top-0.5 left-1/2 z-1 ml-1.5 rounded-full px-1.5 text-xs leading-4 whitespace-nowrap wide:static wide:ml-auto ${news.look}`}
        >
          {news.count < 100 ? news.count : '99+'}
          <span className="sr-only"> {news.word}</span>
        </span>
      )}
    </>
  );
}

import { useNavigate } from '@tanstack/react-router';
import { useKeys } from '../parts/keyboard/keys.tsx';

/** Keyboard shortcuts: `g`, then the first letter of a page. */
export function useGoKeys(): void {
  const navigate = useNavigate();
  useKeys({
    'g i': { label: 'Go to the inbox', run: () => void navigate({ to: '/inbox' }) },
    'g s': { label: 'Go to the spaces', run: () => void navigate({ to: '/spaces' }) },
    'g r': { label: 'Go to the runs', run: () => void navigate({ to: '/runs' }) },
    'g a': { label: 'Go to the agents', run: () => void navigate({ to: '/agents' }) },
    'g t': { label: 'Go to the tools', run: () => void navigate({ to: '/tools' }) },
  });
}

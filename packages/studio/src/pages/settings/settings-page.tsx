import type { ReactElement } from 'react';
import { Page } from '../../ui/page.tsx';

export function SettingsPage(): ReactElement {
  return <Page title="Settings">{null}</Page>;
}

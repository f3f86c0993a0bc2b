import type { ReactElement } from 'react';
import { Page } from '../../ui/page.tsx';

export function RunsPage(): ReactElement {
  return <Page title="Runs">{null}</Page>;
}

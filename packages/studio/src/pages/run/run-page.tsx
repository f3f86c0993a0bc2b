import type { ReactElement } from 'react';
import { Page } from '../../ui/page.tsx';

export function RunPage(): ReactElement {
  return <Page title="Run">{null}</Page>;
}

import type { ReactElement } from 'react';
import { Page } from '../../ui/page.tsx';

export function SpacesPage(): ReactElement {
  return <Page title="Spaces">{null}</Page>;
}

import type { Language } from '../../../domain/sign-in';
import { type DashboardTexts, EN } from './en';
import { ID } from './id';

export const DASHBOARD_TEXTS: Readonly<Record<Language, DashboardTexts>> = { id: ID, en: EN };

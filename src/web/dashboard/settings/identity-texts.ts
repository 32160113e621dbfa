import { CLASS_NAMES } from '../../../domain/class-names';
import type { Language } from '../../../domain/sign-in';

const en = {
  title: 'Identity',
  none: 'Lunas has not recorded yet who you are. Contact Lunas.',
  hint: 'To change it, contact Lunas with the new documents.',
  facts: {
    tradingName: 'Trading name',
    class: 'Class',
    nmid: 'NMID',
    validUntil: 'Documents valid until',
    legalName: 'Legal name',
    address: 'Address',
    taxNumber: 'Tax number',
  },
  noEnd: 'No end',
  inApp: (provider: string) => `Name in the customer's app (${provider})`,
  unknownName: 'Not known',
  classes: CLASS_NAMES.en,
};

const id: typeof en = {
  title: 'Identitas',
  none: 'Identitas toko belum dicatat oleh tim Lunas. Hubungi Lunas.',
  hint: 'Untuk mengubahnya, hubungi Lunas dengan dokumen yang baru.',
  facts: {
    tradingName: 'Nama usaha',
    class: 'Kelas',
    nmid: 'NMID',
    validUntil: 'Dokumen berlaku sampai',
    legalName: 'Nama badan usaha',
    address: 'Alamat',
    taxNumber: 'NPWP',
  },
  noEnd: 'Tanpa batas',
  inApp: (provider) => `Nama di aplikasi pelanggan (${provider})`,
  unknownName: 'Tidak diketahui',
  classes: CLASS_NAMES.id,
};

export const IDENTITY_TEXTS: Readonly<Record<Language, typeof en>> = { id, en };

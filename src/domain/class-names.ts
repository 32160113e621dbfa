import type { MerchantClass } from './merchant-identity';
import type { Language } from './sign-in';

/** The classes of merchants as pages and invoices name them. */
export const CLASS_NAMES: Readonly<Record<Language, Readonly<Record<MerchantClass, string>>>> = {
  en: {
    UMI: 'Micro (UMI)',
    UKE: 'Small (UKE)',
    UME: 'Medium (UME)',
    UBE: 'Large (UBE)',
    education: 'Education',
    fuel: 'Fuel',
    public_service: 'Public service',
    social: 'Social',
  },
  id: {
    UMI: 'Mikro (UMI)',
    UKE: 'Kecil (UKE)',
    UME: 'Menengah (UME)',
    UBE: 'Besar (UBE)',
    education: 'Pendidikan',
    fuel: 'BBM',
    public_service: 'Layanan umum',
    social: 'Sosial',
  },
};

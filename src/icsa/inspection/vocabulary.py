"""Words of column names, in small letters without accents, in the languages of many files.

English, German, French, Spanish, Italian, Dutch, Danish, Norwegian, Swedish and Finnish.
"""

from __future__ import annotations

__all__ = [
    "ADDRESSES",
    "ADDRESS_PARTS",
    "AGES",
    "ATTRIBUTES",
    "CODE_ENDINGS",
    "COUNTS",
    "GIVEN_ENDINGS",
    "GIVEN_WORDS",
    "GROUPS",
    "GROUP_ROOTS",
    "HOUSEHOLDS",
    "LONG_NUMBERS",
    "MAILS",
    "MOMENTS",
    "MORE_GROUPS",
    "NAMES",
    "OTHER_CONTACTS",
    "PEOPLE",
    "PERCENTAGES",
    "PERSON_NAMES",
    "PERSON_NAME_ENDINGS",
    "PHONES",
    "PHONE_PARTS",
    "POSTAL",
    "RECORDS",
    "SCORES",
    "SHARES",
    "SHORTER_THAN_YEARS",
    "THINGS",
    "word_set",
]


def word_set(listed: str) -> frozenset[str]:
    """Return the words of a list that blanks stand between."""
    return frozenset(listed.split())


PEOPLE = word_set(
    "case child client customer employee individual member mother pat patient patienten "
    "participant person proband probanden pupil record respondent row sample student subj subject "
    "user usubj versicherten paciente paziente pasient potilas client cliente"
)
HOUSEHOLDS = word_set(
    "couple dyad fam familia familie famiglia famille family familj fall gezin haushalt hh hogar "
    "household huishouden hushald hushall hushold husholdning kotitalous menage pair perhe twin"
)
# Records that a number is given to where its name begins with "number".
RECORDS = word_set("cartella dossier expediente fiche file historia journal sak sag")
# Numbers of people's registers whose short names also stand for other things.
LONG_NUMBERS = word_set(
    "ahv codicefiscale cpr dni fnr hetu insee kennitala kvnr nie nir nhs nss pesel pnr svnr sotu"
)
GIVEN_WORDS = word_set("id ident identifier key kennung no nr nro num number numero nummer")
GIVEN_ENDINGS = ("nummer", "kennung", "kennziffer", "numero", "tunnus")
COUNTS = word_set(
    "aantal antal antall anzahl cantidad count lukumaara n nb nbr no nombre nr num number numbers "
    "numero zahl"
)
# What people are called. The first need a look at the other words of the name.
NAMES = word_set("naam name names namn navn nimi nom nombre nombres nome")
PERSON_NAMES = word_set(
    "forename fullname givenname maidenname middlename nickname personname username zuname rufname "
    "gpname doctorname patientname mothername fathername patronyme roepnaam tussenvoegsel "
    "mellomnavn mellannamn mellemnavn slektsnavn"
)
PERSON_NAME_ENDINGS = (
    *("surname", "firstname", "lastname", "familyname", "vorname", "nachname", "familienname"),
    *("geburtsname", "madchenname", "maedchenname", "patientenname", "arztname", "prenom"),
    *("nomdefamille", "apellido", "apellidos", "cognome", "voornaam", "achternaam", "fornavn"),
    *("etternavn", "efternavn", "fornamn", "efternamn", "etunimi", "sukunimi", "sobrenome"),
)
# Beside a word for "name" these say that something else than a person is called so.
THINGS = word_set(
    "arm bank brand by center centre city ciudad citta class clinic clinique code column commune "
    "company compound condition country county course department device diagnosis disease district "
    "drug drugs employer event farmaco file firm food gene generic group hopital hospital "
    "insurance insurer item job klinik kommun kommune kunta laake land medicament medication "
    "medicine medikament model organ ort paese pais pathogen pays plan procedure product produit "
    "program programme project protein provincia region school sensor site species stad stadt "
    "state station strain studie study sygehus sykehus sjukhus team test tissue title town trade "
    "treatment trial unit university variable ville virus ward ziekenhuis"
)
# And these that the column is about a name or a phone, not one.
ATTRIBUTES = word_set(
    "any app available art brand calls change changed changes consent contacted count duration "
    "flag has hours is known length minutes model os owner ownership quality score status time "
    "tipo typ type usage use used valid"
)
PHONES = word_set(
    "cellphone cellulare celular fax gsm handy handynr homephone kannykka mobiel mobil mobile "
    "mobilephone mobilnr movil phone phonenumber phones puhelin telefax tel telefon telefono "
    "telefoon telephone telephon tlf telnr workphone"
)
PHONE_PARTS = (
    *("telefonnum", "telephonenum", "phonenum", "handynummer", "mobilnummer", "mobiltelefon"),
    *("rufnummer", "faxnum", "puhelinnumero", "matkapuhelin", "telefoonnummer", "mobielnummer"),
)
MAILS = word_set(
    "correo correoelectronico courriel email emails emailaddress epost eposta mail mailadresse "
    "postaelettronica sahkoposti"
)
ADDRESSES = word_set(
    "addr address adres adress adresse anschrift calle direccion domicile domicilio gata gade "
    "hausnummer housenumber husnummer indirizzo osoite rue straat strasse street vej vei via"
)
ADDRESS_PARTS = ("adresse", "adress", "adres", "address", "anschrift", "osoite", "strasse")
OTHER_CONTACTS = word_set("iban initials passport")
POSTAL = word_set(
    "codepostal codigopostal plz postal postalcode postcode postinumero postleitzahl postnr "
    "postnummer zip zipcode"
)
# What people belong to and codes stand for; of the second ones only a last word says so.
GROUPS = word_set(
    "arm cause center centre clinic country department diagnosis ethnic ethnicity group "
    "hospital language marital nationality occupation profession race region religion site status "
    "treatment type ward"
)
MORE_GROUPS = word_set(
    "abteilung batch block bundesland centro class classe classroom clinique cluster cohort "
    "commune community company county departement dept district division ecole employer "
    "enumerator escuela facility firm fylke gemeinde groupe grp grupo gruppe hopital industry "
    "institute institution interviewer klasse klinik kommun kommune koulu krankenhaus kreis "
    "laboratory landkreis municipality neighborhood neighbourhood nursery operator ospedale pais "
    "party physician plan plate practice precinct province provincia psu rater sairaala scanner "
    "school schule scuola sector sjukhus skola skole state station stratum surgeon sygehus "
    "sykehus teacher therapist tribe university village zentrum ziekenhuis zone"
)
GROUP_ROOTS = word_set(
    "c clin cnt county cnty ctr ctry cty d dep dist hosp ind inst instit mun occ prov reg s sch "
    "st stat"
)
AGES = word_set("age aetas alder alter edad eta ika idade leeftijd")
PERCENTAGES = word_set(
    "pc pct perc percent percentage percentile porcentaje pourcent pourcentage procent prosent "
    "prosentti prozent"
)
SCORES = word_set(
    "pain pisteet poang points punkte punktzahl puntaje punteggio rating schmerz score scores"
)
SHARES = word_set("anteil andel fraction frac part prob probability prop proportion share taux")
SHORTER_THAN_YEARS = word_set(
    "days dagar dage dagen dias giorni jours maanden maneder manader meses mesi mois monat "
    "monate monaten month months semaines tage tagen uger veckor week weeks weken woche wochen"
)
MOMENTS = word_set(
    "aika ano année annee anno año dag data date datum day days dia día fecha giorno heure hora "
    "hour hours jaar jahr jour mes month months monat mois päivä stunde tag tempo temps tid tiempo "
    "tijd time timestamp uhrzeit vuosi week weeks year years yr zeit år"
)
CODE_ENDINGS = ("code", "codes", "cod", "num", "nr", "id", "no", "fips", "fip", "fp")

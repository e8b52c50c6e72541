Scenario: Dokument dzielony na chunki ~500 tokenów
  Given Dokument tekstowy 2000 tokenów
  When Przetwarzam przez FixedSizeChunkingStrategy
  Then Otrzymuję 4-5 chunków
  And Każdy chunk ma 400-600 tokenów
  And Chunki mają overlap ~12%

Scenario: Akapit nie jest dzielony jeśli mieści się w limicie
  Given Dokument z 3 akapitami po 200 tokenów
  When Przetwarzam przez FixedSizeChunkingStrategy
  Then Otrzymuję 2 chunki
  And Pierwszy chunk zawiera akapity 1-2
  And Drugi chunk zawiera akapit 3 + overlap

Scenario: Duży akapit jest dzielony
  Given Akapit 1000 tokenów (jedna ściana tekstu)
  When Przetwarzam przez FixedSizeChunkingStrategy
  Then Akapit jest podzielony na ~2 chunki
  And Podział następuje między zdaniami

Scenario: Headers markdown dzielą sekcje
  Given Dokument markdown:
    """
    ## Section 1
    Content 1...

    ## Section 2
    Content 2...
    """
  When Przetwarzam przez FixedSizeChunkingStrategy
  Then Sekcje są osobnymi chunkami (jeśli wystarczająco duże)
